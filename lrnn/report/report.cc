#include "lrnn/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "lrnn/base/error.h"
#include "lrnn/report/html_page.h"
#include "lrnn/report/number_text.h"
#include "lrnn/report/run_summary.h"

namespace lrnn {
namespace {

using nlohmann::json;

// Of each run, in order and without repetition.
template <typename Value>
std::vector<std::string> Distinct(const json& runs, const Value& value) {
  std::vector<std::string> values;
  for (const json& run : runs) {
    const std::string text = value(run);
    if (!text.empty() && std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
  }
  return values;
}

// "a, b and c"
std::string List(const std::vector<std::string>& words, const std::string& last = " and ") {
  if (words.empty()) return "";
  std::string list = words[0];
  for (size_t i = 1; i < words.size(); ++i) list += (i + 1 == words.size() ? last : ", ") + words[i];
  return list;
}

// "" where there is none.
std::string Range(const json& run) {
  if (run["range"].is_null()) return "";
  return fmt::format("[{}, {}]", run["range"][0].dump(), run["range"][1].dump());
}

// "DeltaNet [-1,1]"; the seed is added where two runs would have the same label, then the directory.
void AddLabels(json& runs) {
  const auto add_where_equal = [&runs](const auto& more) {
    std::map<std::string, int> uses;
    for (const json& run : runs) ++uses[run["label"]];
    for (json& run : runs) {
      if (uses[run["label"]] > 1) run["label"] = run["label"].get<std::string>() + more(run);
    }
  };
  for (json& run : runs) {
    const std::string layer = run["layer_name"], eigenvalues = run["eigenvalues"];
    run["label"] = eigenvalues.empty() ? layer : fmt::format("{} {}", layer, eigenvalues);
  }
  add_where_equal([](const json& run) { return fmt::format(", seed {}", run["train"]["seed"].get<int64_t>()); });
  add_where_equal([](const json& run) { return fmt::format(" ({})", run["path"].get<std::string>()); });
}

std::string TaskName(const std::string& task) {
  std::string name = task;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string Title(const json& runs) {
  std::string task = TaskName(runs[0]["task"]);
  task[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(task[0])));
  const std::vector<std::string> ranges = Distinct(runs, Range);
  return ranges.empty() ? task : fmt::format("{} with eigenvalues in {}", task, List(ranges));
}

std::string Summary(const json& runs) {
  const auto layer = [](const json& run) { return run["layer_name"].get<std::string>(); };
  const auto trained = [](const json& run) { return LengthsText(run["train_lengths"]); };
  std::vector<std::string> tested = Distinct(runs, [](const json& run) {
    return run["by_length"].is_null() ? std::string() : LengthsText(run["by_length"]["lengths"]);
  });
  std::vector<int64_t> one_length;
  for (const json& run : runs) {
    for (const json& test : run["long"]) one_length.push_back(test["length"]);
  }
  std::sort(one_length.begin(), one_length.end());
  one_length.erase(std::unique(one_length.begin(), one_length.end()), one_length.end());
  for (int64_t length : one_length) tested.push_back(CountText(length));

  const std::vector<std::string> layers = Distinct(runs, layer);
  const bool is_one = layers.size() == 1;
  const std::vector<std::string> ranges = Distinct(runs, Range);
  return fmt::format("{} {} trained on {} with sequences of {} tokens{}{}.", List(layers), is_one ? "was" : "were",
                     TaskName(runs[0]["task"]), List(Distinct(runs, trained)),
                     ranges.empty() ? ""
                                    : fmt::format(", with the eigenvalues of {} state transitions in {}",
                                                  is_one ? "its" : "their", List(ranges)),
                     tested.empty() ? ", and not tested yet"
                                    : fmt::format(", and tested on sequences of {} tokens", List(tested, " and of ")));
}

// A word of a POSIX shell.
std::string ShellWord(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+=:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::vector<std::string> Commands(const json& runs) {
  std::vector<std::string> commands;
  std::string paths;
  for (const json& run : runs) {
    const std::string path = ShellWord(run["path"]);
    commands.push_back(
        fmt::format("lrnn train {} --out {}", ShellWord(run["name"].get<std::string>() + ".toml"), path));
    if (!run["by_length"].is_null()) {
      const json& lengths = run["by_length"]["lengths"];
      commands.push_back(
          fmt::format("lrnn eval {} --lengths {}:{}", path, lengths[0].get<int64_t>(), lengths[1].get<int64_t>()));
    }
    for (const json& test : run["long"]) {
      commands.push_back(fmt::format("lrnn eval {} --lengths {}:{}", path, test["length"].get<int64_t>(),
                                     test["length"].get<int64_t>()));
    }
    if (!run["spectrum"].is_null()) commands.push_back(fmt::format("lrnn analyze {} --spectrum", path));
    commands.push_back("");
    paths += "  " + path + " \\\n";
  }
  commands.push_back(fmt::format("lrnn report \\\n{}  -o report.html", paths));
  return commands;
}

}  // namespace

json BuildReport(const std::vector<std::filesystem::path>& paths) {
  LRNN_CHECK(!paths.empty(), "[BuildReport] expected at least one run, got none");
  json runs = json::array();
  json chance;
  std::string chance_of;  // the run that said so
  for (const std::filesystem::path& path : paths) {
    json run = SummariseRun(path);
    const std::string name = run["path"];
    if (!runs.empty() && run["task"] != runs[0]["task"]) {
      Fail("{}: a report is about one task: this run is of \"{}\", {} of \"{}\"", name, run["task"].get<std::string>(),
           runs[0]["path"].get<std::string>(), runs[0]["task"].get<std::string>());
    }
    if (chance.is_null()) {
      chance = run["chance"];
      chance_of = name;
    } else if (!run["chance"].is_null() && run["chance"] != chance) {
      Fail("{}: field \"chance\": expected {} as in {}, got {}", (path / "eval.json").string(), chance.dump(),
           chance_of, run["chance"].dump());
    }
    runs.push_back(std::move(run));
  }
  AddLabels(runs);
  const auto version = [](const json& run) { return run["train"]["lrnn_version"].get<std::string>(); };
  return {{"format", "lrnn.report"},
          {"version", 1},
          {"title", Title(runs)},
          {"summary", Summary(runs)},
          {"task", runs[0]["task"]},
          {"chance", chance},
          {"lrnn_version", List(Distinct(runs, version))},
          {"commands", Commands(runs)},
          {"runs", runs}};
}

std::string RenderReportHtml(const json& report) {
  return RenderPage(report.at("title"), RenderReportTable(report), report);
}

}  // namespace lrnn
