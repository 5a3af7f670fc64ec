#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lrnn/io/test_directory.h"
#include "lrnn/report/report.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text between two marks, which must be there.
std::string Between(const std::string& page, const std::string& begin, const std::string& end) {
  const size_t from = page.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const size_t to = page.find(end, from + begin.size());
  EXPECT_NE(to, std::string::npos) << end;
  return page.substr(from + begin.size(), to - from - begin.size());
}

std::string EmbeddedReport(const std::string& page) {
  return Between(page, "<script type=\"application/json\" id=\"lrnn-report\">", "</script>");
}

size_t Count(const std::string& page, const std::string& text) {
  size_t count = 0;
  for (size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + text.size())) ++count;
  return count;
}

TEST(HtmlPage, HoldsReportTitleAndTable) {
  const TestDirectory directory;
  const nlohmann::json report = BuildReport(WriteSampleRuns(directory.path()));
  const std::string page = RenderReportHtml(report);
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0u);
  EXPECT_EQ(nlohmann::json::parse(EmbeddedReport(page)), report);
  EXPECT_EQ(Between(page, "<title>", "</title>"), "Parity with eigenvalues in [0, 1] and [-1, 1]");
  EXPECT_THAT(Between(page, "<noscript>", "</noscript>"), HasSubstr("DeltaNet [-1,1]     529,856"));
  for (const char* place : {"{{title}}", "{{table}}", "{{report}}", "{{style}}", "{{script}}"}) {
    EXPECT_THAT(page, Not(HasSubstr(place)));
  }
}

TEST(HtmlPage, ReferencesNothingOutside) {
  const TestDirectory directory;
  const std::string page = RenderReportHtml(BuildReport({WriteSampleRun(directory / "a", {})}));
  for (const char* text : {"src=", "@import", "<link rel=\"stylesheet\"", "url(http"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
}

TEST(HtmlPage, WhatRunsSayIsNeverMarkup) {
  const TestDirectory directory;
  SampleRun sample;
  sample.title = "</script><b>&\"\u2028{{report}}<!--";
  nlohmann::json report = BuildReport({WriteSampleRun(directory / "a", sample)});
  report["title"] = sample.title;
  report["runs"][0]["label"] = sample.title;
  const std::string page = RenderReportHtml(report);
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_EQ(Count(page, "</script>"), 2u);
  EXPECT_EQ(Count(page, "<!--"), 1u);  // the licence notice
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;b&gt;&amp;&quot;\u2028{{report}}&lt;!--</title>"));
  const std::string embedded = EmbeddedReport(page);
  EXPECT_THAT(embedded, Not(HasSubstr("<")));
  EXPECT_THAT(embedded, Not(HasSubstr("\u2028")));
  EXPECT_EQ(nlohmann::json::parse(embedded)["runs"][0]["title"], sample.title);
}

TEST(HtmlPage, BytesThatAreNoTextAreReplaced) {
  const TestDirectory directory;
  nlohmann::json report = BuildReport({WriteSampleRun(directory / "a", {})});
  report["runs"][0]["path"] = "run\xff";
  EXPECT_EQ(nlohmann::json::parse(EmbeddedReport(RenderReportHtml(report)))["runs"][0]["path"], "run\uFFFD");
}

}  // namespace
}  // namespace lrnn
