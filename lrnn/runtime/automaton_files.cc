#include "lrnn/runtime/automaton_files.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

constexpr int64_t kFormatVersion = 1;

using Table = std::vector<std::vector<int>>;

// Tensors of the file under way; keeps their data.
class TensorWriter {
 public:
  void AddInts(const std::string& name, std::vector<int64_t> shape, std::vector<int> values) {
    const std::vector<int>& kept = ints_.emplace_back(std::move(values));
    tensors_[name] = {DType::I32, std::move(shape), reinterpret_cast<const std::byte*>(kept.data()),
                      kept.size() * sizeof(int)};
  }
  void AddTable(const std::string& name, const Table& table, int64_t columns) {
    std::vector<int> values;
    for (const std::vector<int>& row : table) values.insert(values.end(), row.begin(), row.end());
    AddInts(name, {static_cast<int64_t>(table.size()), columns}, std::move(values));
  }
  void AddFloats(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& values) {
    tensors_[name] = FloatView(std::move(shape), values);
  }
  // Rows of different lengths, and where each ends.
  void AddRagged(const std::string& name, const Table& table) {
    std::vector<int> values, ends;
    for (const std::vector<int>& row : table) {
      values.insert(values.end(), row.begin(), row.end());
      ends.push_back(static_cast<int>(values.size()));
    }
    const int64_t count = static_cast<int64_t>(values.size()), rows = static_cast<int64_t>(ends.size());
    AddInts(name, {count}, std::move(values));
    AddInts(name + "_ends", {rows}, std::move(ends));
  }
  const TensorMap& tensors() const { return tensors_; }

 private:
  std::deque<std::vector<int>> ints_;
  TensorMap tensors_;
};

nlohmann::json WriteLevel(const AutomatonLevel& level, const std::string& prefix, TensorWriter& out) {
  const CascadeTables& tables = level.tables;
  out.AddTable(prefix + ".actions", tables.actions, tables.labels);
  out.AddInts(prefix + ".action_of", {tables.contexts()}, tables.action_of);
  out.AddTable(prefix + ".next", tables.next, tables.labels);
  nlohmann::json json = {
      {"kind", Name(level.kind)},      {"labels", tables.labels},          {"delay", level.delay},
      {"contexts", tables.contexts()}, {"actions", tables.actions.size()}, {"layers", nlohmann::json::array()}};
  if (level.kind == LevelKind::kPoints) {
    json["points"] = level.codes[0].size();
    out.AddTable(prefix + ".codes", level.codes, static_cast<int64_t>(level.codes[0].size()));
  }
  for (size_t i = 0; i < level.layers.size(); ++i) {
    const DeltaProductTable& layer = level.layers[i];
    const std::string name = fmt::format("{}.layers.{}", prefix, i);
    out.AddFloats(name + ".k", {layer.symbols, layer.n_h, layer.K}, layer.k);
    out.AddFloats(name + ".beta", {layer.symbols, layer.n_h}, layer.beta);
    out.AddFloats(name + ".v", {layer.symbols, layer.n_h}, layer.v);
    json["layers"].push_back(
        {{"symbols", layer.symbols}, {"n_h", layer.n_h}, {"K", layer.K}, {"copies", layer.copies}});
  }
  return json;
}

void WriteProof(const CascadeProof& proof, TensorWriter& out) {
  out.AddRagged("proof.sets", proof.sets);
  out.AddInts("proof.level_of", {static_cast<int64_t>(proof.level_of.size())}, proof.level_of);
  out.AddRagged("proof.children", proof.children);
  for (size_t level = 0; level < proof.cases.size(); ++level) {
    Table rows;
    for (const CascadeProof::Case& c : proof.cases[level]) rows.push_back({c.from, c.to, c.letter, c.context});
    out.AddTable(fmt::format("proof.cases.{}", level), rows, 4);
  }
}

class Reader {
 public:
  explicit Reader(const ModelDirectory& model) : model_(model), source_(model.fields().source()) {}

  AutomatonNetwork Read() {
    const Fields& config = model_.fields();
    if (config.String("model_type") != kAutomatonModelType) {
      config.Refuse("model_type", fmt::format("\"{}\"", kAutomatonModelType));
    }
    if (config.Int("format_version") != kFormatVersion) {
      config.Refuse("format_version", fmt::format("{}", kFormatVersion));
    }
    AutomatonNetwork network;
    network.dfa = ReadDfa(config);
    constexpr std::string_view kModes[] = {"relax", "sub", "height", "group", "rotation", "jit"};
    network.mode = kModes[FindName(config, "mode", kModes)];
    network.keys = static_cast<KeyStyle>(FindName(config, "keys", KeyStyleNames()));
    network.negative_eigenvalues = config.Bool("allow_neg_eigval");
    constexpr std::string_view kOutputs[] = {"acceptance", "state"};
    network.outputs_states = FindName(config, "output", kOutputs) == 1;
    if (!network.is_jit()) {
      network.first_context = Ints("first_context", {network.dfa.num_letters()});
      if (!config.json().contains("levels") || !config.json()["levels"].is_array()) {
        Fail("{}: field \"levels\": expected a list", source_);
      }
      for (const nlohmann::json& item : config.json()["levels"]) {
        const size_t i = network.levels.size();
        network.levels.push_back(
            ReadLevel(Fields(item, fmt::format("{}: levels[{}]", source_, i)), fmt::format("levels.{}", i)));
      }
      network.proof = ReadProof(network.levels.size());
    }
    Validate(network, source_);
    return network;
  }

 private:
  Dfa ReadDfa(const Fields& config) const {
    Dfa dfa;
    dfa.letters = config.Object("lrnn").Strings("symbols");
    if (config.PositiveInt("vocab_size") != static_cast<int64_t>(dfa.letters.size())) {
      config.Refuse("vocab_size", fmt::format("{}, the number of symbols", dfa.letters.size()));
    }
    dfa.num_states = Size(config, "num_states");
    dfa.start = static_cast<int>(std::clamp<int64_t>(config.Int("start"), -1, dfa.num_states));
    dfa.next = TableOf("transitions", dfa.num_letters(), dfa.num_states);
    dfa.accepting.assign(dfa.num_states, false);
    const nlohmann::json accepting = config.json().value("accepting", nlohmann::json());
    if (!accepting.is_array()) Fail("{}: field \"accepting\": expected a list of states", source_);
    for (const nlohmann::json& state : accepting) {
      const bool is_state = state.is_number_unsigned() && state.get<uint64_t>() < static_cast<uint64_t>(dfa.num_states);
      if (!is_state) Fail("{}: field \"accepting\": expected states, got {}", source_, state.dump());
      dfa.accepting[state.get<size_t>()] = true;
    }
    return dfa;
  }

  AutomatonLevel ReadLevel(const Fields& fields, const std::string& prefix) const {
    AutomatonLevel level;
    level.kind = static_cast<LevelKind>(FindName(fields, "kind", LevelKindNames()));
    level.delay = fields.Bool("delay");
    CascadeTables& tables = level.tables;
    tables.labels = Size(fields, "labels");
    const int contexts = Size(fields, "contexts");
    tables.actions = TableOf(prefix + ".actions", Size(fields, "actions"), tables.labels);
    tables.action_of = Ints(prefix + ".action_of", {contexts});
    tables.next = TableOf(prefix + ".next", contexts, tables.labels);
    if (level.kind == LevelKind::kPoints) {
      level.codes = TableOf(prefix + ".codes", tables.labels, Size(fields, "points"));
    }
    const nlohmann::json layers = fields.json().value("layers", nlohmann::json());
    if (!layers.is_array()) Fail("{}: field \"layers\": expected a list", fields.source());
    for (const nlohmann::json& item : layers) {
      const size_t i = level.layers.size();
      level.layers.push_back(ReadLayer(Fields(item, fmt::format("{}.layers[{}]", fields.source(), i)),
                                       fmt::format("{}.layers.{}", prefix, i)));
    }
    return level;
  }

  DeltaProductTable ReadLayer(const Fields& fields, const std::string& prefix) const {
    DeltaProductTable layer;
    layer.symbols = Size(fields, "symbols");
    layer.n_h = Size(fields, "n_h");
    layer.K = Size(fields, "K");
    layer.copies = Size(fields, "copies");
    layer.k = model_.Floats(prefix + ".k", {layer.symbols, layer.n_h, layer.K});
    layer.beta = model_.Floats(prefix + ".beta", {layer.symbols, layer.n_h});
    layer.v = model_.Floats(prefix + ".v", {layer.symbols, layer.n_h});
    return layer;
  }

  CascadeProof ReadProof(size_t levels) const {
    CascadeProof proof;
    if (model_.Find("proof.sets") == nullptr) return proof;
    proof.sets = RaggedOf("proof.sets");
    proof.level_of = Ints("proof.level_of", {static_cast<int64_t>(proof.sets.size())});
    proof.children = RaggedOf("proof.children");
    for (size_t level = 0; level < levels; ++level) {
      const std::string name = fmt::format("proof.cases.{}", level);
      const TensorView& view = model_.Get(name);
      const int64_t rows = view.shape.empty() ? 0 : view.shape[0];
      std::vector<CascadeProof::Case>& cases = proof.cases.emplace_back();
      for (const std::vector<int>& row : TableOf(name, rows, 4)) cases.push_back({row[0], row[1], row[2], row[3]});
    }
    return proof;
  }

  int Size(const Fields& fields, std::string_view name) const { return static_cast<int>(fields.PositiveInt(name)); }

  static int FindName(const Fields& fields, std::string_view field, std::span<const std::string_view> names) {
    const std::string name = fields.String(field);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fields.Refuse(field, fmt::format("one of {}", fmt::join(names, ", ")));
    return static_cast<int>(found - names.begin());
  }

  std::vector<int> Ints(const std::string& name, const std::vector<int64_t>& shape) const {
    const TensorView& view = model_.Get(name);
    const std::string weights = (model_.path() / "model.safetensors").string();
    LRNN_CHECK(view.dtype == DType::I32, "{}: tensor \"{}\": expected type I32, got {}", weights, name,
               Name(view.dtype));
    LRNN_CHECK(view.shape == shape, "{}: tensor \"{}\": expected shape {}, got {}", weights, name, ShapeString(shape),
               ShapeString(view.shape));
    std::vector<int> values(view.bytes / sizeof(int));
    if (!values.empty()) std::memcpy(values.data(), view.data, view.bytes);
    return values;
  }

  Table TableOf(const std::string& name, int64_t rows, int64_t columns) const {
    const std::vector<int> values = Ints(name, {rows, columns});
    Table table;
    for (int64_t row = 0; row < rows; ++row) {
      table.emplace_back(values.begin() + row * columns, values.begin() + (row + 1) * columns);
    }
    return table;
  }

  Table RaggedOf(const std::string& name) const {
    const auto length = [&](const std::string& tensor) {
      const TensorView& view = model_.Get(tensor);
      return view.shape.empty() ? int64_t{0} : view.shape[0];
    };
    const std::vector<int> values = Ints(name, {length(name)});
    const std::vector<int> ends = Ints(name + "_ends", {length(name + "_ends")});
    Table table;
    int begin = 0;
    for (const int end : ends) {
      LRNN_CHECK(end >= begin && end <= static_cast<int>(values.size()), "{}: tensor \"{}_ends\": {} after {}",
                 (model_.path() / "model.safetensors").string(), name, end, begin);
      table.emplace_back(values.begin() + begin, values.begin() + end);
      begin = end;
    }
    return table;
  }

  const ModelDirectory& model_;
  std::string source_;
};

}  // namespace

bool IsAutomaton(const ModelDirectory& model) { return model.fields().String("model_type", "") == kAutomatonModelType; }

void WriteAutomaton(const std::filesystem::path& path, const AutomatonNetwork& network) {
  const Dfa& dfa = network.dfa;
  TensorWriter out;
  out.AddTable("transitions", dfa.next, dfa.num_states);
  std::vector<int> accepting;
  for (int q = 0; q < dfa.num_states; ++q) {
    if (dfa.accepting[q]) accepting.push_back(q);
  }
  nlohmann::json config = {{"model_type", kAutomatonModelType},
                           {"format_version", kFormatVersion},
                           {"vocab_size", dfa.num_letters()},
                           {"lrnn", {{"symbols", dfa.letters}}},
                           {"num_states", dfa.num_states},
                           {"start", dfa.start},
                           {"accepting", accepting},
                           {"output", network.outputs_states ? "state" : "acceptance"},
                           {"mode", network.mode},
                           {"keys", Name(network.keys)},
                           {"allow_neg_eigval", network.negative_eigenvalues}};
  if (!network.is_jit()) {
    out.AddInts("first_context", {dfa.num_letters()}, network.first_context);
    config["levels"] = nlohmann::json::array();
    for (size_t i = 0; i < network.levels.size(); ++i) {
      config["levels"].push_back(WriteLevel(network.levels[i], fmt::format("levels.{}", i), out));
    }
    WriteProof(network.proof, out);
  }
  WriteModelDirectory(path, config, out.tensors());
}

AutomatonNetwork ReadAutomaton(const ModelDirectory& model) { return Reader(model).Read(); }

}  // namespace lrnn
