#include "lrnn/tasks/solve_equation.h"

#include "lrnn/tasks/bracket_expression.h"
#include "lrnn/tasks/question.h"

namespace lrnn {
namespace {

Question Draw(int64_t length, int32_t modulus, int32_t equals, int32_t unknown, Rng& rng) {
  const int64_t size = length - 2;
  BracketExpression expression(size, modulus, /*multiplication=*/false);
  Question question;
  for (int64_t i = 0; i < size; ++i) question.tokens.push_back(expression.Next(rng));
  int64_t place = rng.Between(0, size - 1);
  while (question.tokens[place] >= modulus) place = (place + 1) % size;
  question.answer = {question.tokens[place]};
  question.tokens[place] = unknown;
  question.tokens.push_back(equals);
  question.tokens.push_back(expression.value());
  return question;
}

std::unique_ptr<Task> Make(const TaskParameters& parameters) {
  const int32_t modulus = static_cast<int32_t>(parameters.Int("modulus", 2, 1000));
  std::vector<std::string> symbols = BracketExpression::Symbols(modulus);
  const int32_t equals = static_cast<int32_t>(symbols.size()), unknown = equals + 1;
  symbols.insert(symbols.end(), {"=", "x"});
  return MakeQuestionTask(
      {.name = "solve_equation",
       .symbols = symbols,
       .chance = 1.0 / modulus,
       .min_length = 3,
       .slots = [](int64_t) { return 1; },
       .draw = [=](int64_t length, Rng& rng) { return Draw(length, modulus, equals, unknown, rng); }});
}

}  // namespace

TaskInfo SolveEquationInfo() {
  return {"solve_equation", "the unknown digit x of a bracketed expression mod m", {{"modulus", 5, "m"}}, Make};
}

}  // namespace lrnn
