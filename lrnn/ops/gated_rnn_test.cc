#include "lrnn/ops/gated_rnn.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

using Form = GatedRnnResult (*)(const Tensor&, const Tensor&, const Tensor&, const GatedRnnOptions&, const Sequences&,
                                const c10::optional<Tensor>&);

struct Cell {
  const char* name;
  int64_t states;
  Form fused, aten, reference;
};
void PrintTo(const Cell& cell, std::ostream* out) { *out << cell.name; }

struct Case {
  std::vector<int64_t> lengths;
  int64_t H, K;
  bool has_state;
};

class GatedRnn : public testing::TestWithParam<Cell> {
 protected:
  // x, R, bias [, initial state]: states are positive, so that a normaliser is one.
  std::vector<Tensor> RandomInputs(const Case& c, torch::Dtype dtype) const {
    torch::manual_seed(1);
    const int64_t T = Sequences::FromLengths(c.lengths).tokens(), N = static_cast<int64_t>(c.lengths.size());
    std::vector<Tensor> inputs{torch::randn({T, c.H, 4, c.K}, dtype),
                               torch::randn({c.H, c.K, 4, c.K}, dtype) / std::sqrt(c.K),
                               torch::randn({c.H, 4, c.K}, dtype)};
    if (c.has_state) inputs.push_back(torch::rand({N, GetParam().states, c.H, c.K}, dtype) + 0.5);
    return inputs;
  }

  static TensorFunction Bind(const Case& c, Form form) {
    return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> {
      const auto result = form(x[0], x[1], x[2], {.return_final_state = true}, Sequences::FromLengths(c.lengths),
                               c.has_state ? c10::optional<Tensor>(x[3]) : c10::nullopt);
      return {result.y, result.final_state};
    };
  }

  static std::vector<Case> Cases() {
    return {{{1}, 1, 1, false},
            {{5, 0, 1, 30}, 2, 8, true},
            {{7, 18}, 4, 32, false},
            {{7, 20, 2}, 1, 33, true},
            {std::vector<int64_t>(30, 2), 2, 5, true},
            {{0, 0}, 2, 4, true}};
  }
};

TEST_P(GatedRnn, FusedEqualsReference) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(testing::PrintToString(c.lengths));
    const auto fused = Bind(c, GetParam().fused), reference = Bind(c, GetParam().reference);
    ExpectSameFunction(fused, reference, RandomInputs(c, torch::kFloat64), 1e-12);
    ExpectSameFunction(fused, reference, RandomInputs(c, torch::kFloat32), 2e-5);
  }
}

TEST_P(GatedRnn, AtenEqualsReference) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(testing::PrintToString(c.lengths));
    ExpectSameFunction(Bind(c, GetParam().aten), Bind(c, GetParam().reference), RandomInputs(c, torch::kFloat64),
                       1e-12);
  }
}

TEST_P(GatedRnn, OtherTypesTakeTheAtenForm) {
  const Case c = Cases()[2];
  ExpectTakesBfloat16(Bind(c, GetParam().fused), RandomInputs(c, torch::kFloat32), 0.1);
}

TEST_P(GatedRnn, FiniteDifferences) {
  for (const Case& c : {Case{{2, 4}, 2, 3, true}, Case{{4, 1}, 1, 2, false}}) {
    ExpectFiniteDifferences(Bind(c, GetParam().fused), RandomInputs(c, torch::kFloat64));
  }
}

TEST_P(GatedRnn, StateCarriedAcrossASplitIsOnePass) {
  const Case c{{21}, 2, 8, true};
  const auto split = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    const auto part = [&](int64_t begin, int64_t end, const Tensor& state) {
      return GetParam().fused(x[0].slice(0, begin, end), x[1], x[2], {.return_final_state = true},
                              Sequences::Single(end - begin), state);
    };
    const auto first = part(0, 8, x[3]), second = part(8, 21, first.final_state);
    return {torch::cat({first.y, second.y}), second.final_state};
  };
  ExpectSameFunction(split, Bind(c, GetParam().fused), RandomInputs(c, torch::kFloat64), 1e-12);
}

// Heads outermost, as a product of each head's input leaves them; and an x with gaps inside its rows.
TEST_P(GatedRnn, XOfOtherStrides) {
  const Case c{{3, 9}, 2, 8, false};
  const auto fused = Bind(c, GetParam().fused);
  const auto heads_first = [&](const std::vector<Tensor>& x) {
    return fused({x[0].transpose(0, 1).contiguous().transpose(0, 1), x[1], x[2]});
  };
  const auto units_first = [&](const std::vector<Tensor>& x) {
    return fused({x[0].transpose(2, 3).contiguous().transpose(2, 3), x[1], x[2]});
  };
  ExpectSameFunction(heads_first, fused, RandomInputs(c, torch::kFloat64), 1e-12);
  ExpectSameFunction(units_first, fused, RandomInputs(c, torch::kFloat64), 1e-12);
}

TEST_P(GatedRnn, SameBitsForAnyThreadCount) {
  const Case c{{40, 3, 100, 11, 25, 1, 8, 8, 8}, 2, 16, true};
  ExpectSameBitsForAnyThreadCount(Bind(c, GetParam().fused), RandomInputs(c, torch::kFloat32));
}

TEST_P(GatedRnn, ErrorsNameTheTensor) {
  const Case c{{3, 4}, 2, 5, true};
  const std::string name = GetParam().name;
  const auto message = [&](size_t which, const Tensor& wrong) {
    auto inputs = RandomInputs(c, torch::kFloat32);
    inputs[which] = wrong;
    return MessageOf([&] { Bind(c, GetParam().fused)(inputs); });
  };
  EXPECT_EQ(message(0, torch::zeros({6, 2, 4, 5})),
            "[" + name + "] expected x of shape [T, H, 4, K] with T = 7, got [6, 2, 4, 5]");
  EXPECT_EQ(message(0, torch::zeros({7, 2, 4, 5}, torch::kInt64)),
            "[" + name + "] expected x of a floating type, got Long");
  EXPECT_EQ(message(1, torch::zeros({2, 5, 20})),
            "[" + name + "] expected R of shape [H, K, 4, K] = [2, 5, 4, 5], got [2, 5, 20]");
  EXPECT_EQ(message(2, torch::zeros({2, 4, 5}, torch::kFloat64)),
            "[" + name + "] expected bias of x's type Float, got Double");
  EXPECT_THAT(message(3, torch::zeros({2, 3, 2, 5})),
              testing::HasSubstr("expected initial_state of shape [N, S, H, K]"));
}

TEST_P(GatedRnn, FusedDifferentiatesOnce) {
  const Case c{{3}, 1, 2, false};
  ExpectFusedDifferentiatesOnce(Bind(c, GetParam().fused), Bind(c, GetParam().aten), RandomInputs(c, torch::kFloat64),
                                GetParam().name, "the ATen form");
}

INSTANTIATE_TEST_SUITE_P(Cells, GatedRnn,
                         testing::Values(Cell{"slstm", 4, Slstm, SlstmAten, SlstmReference},
                                         Cell{"lstm", 2, Lstm, LstmAten, LstmReference}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lrnn::ops
