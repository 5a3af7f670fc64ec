// The commands of `lrnn`. Each adds itself to the program; a new command is one file, one line here and one in main.cc.
#pragma once

#include <CLI/CLI.hpp>

namespace lrnn::cli {

void AddCertify(CLI::App& app);
void AddCompile(CLI::App& app);
void AddFactor(CLI::App& app);
void AddFuzz(CLI::App& app);
void AddReport(CLI::App& app);
void AddRun(CLI::App& app);
void AddTasks(CLI::App& app);
void AddTheory(CLI::App& app);

// In builds with torch:
void AddAnalyze(CLI::App& app);
void AddEval(CLI::App& app);
void AddLayers(CLI::App& app);
void AddReproduce(CLI::App& app);
void AddTrain(CLI::App& app);

}  // namespace lrnn::cli
