#include "lrnn/report/html_page.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "lrnn/base/error.h"
#include "lrnn/report/page_template.h"

namespace lrnn {
namespace {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// JSON inside a <script> element: no "</script>" or "<!--" may appear, so every < becomes \u003c, which JSON reads as
// <. All that is not ASCII (U+2028, which ends a line in JavaScript, among it) is escaped by dump; bytes that are no
// UTF-8 become U+FFFD.
std::string EmbeddedJson(const nlohmann::json& value) {
  std::string embedded;
  for (char c : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') {
      embedded += "\\u003c";
    } else {
      embedded += c;
    }
  }
  return embedded;
}

}  // namespace

std::string RenderPage(const std::string& title, const std::string& table, const nlohmann::json& data) {
  const std::pair<std::string_view, std::string> places[] = {
      {"{{title}}", EscapeHtml(title)},
      {"{{table}}", EscapeHtml(table)},
      {"{{report}}", EmbeddedJson(data)},
  };
  // One pass from left to right: what is filled in is not searched again.
  std::string page;
  std::string_view rest = ReportPageTemplate();
  for (const auto& [place, text] : places) {
    const size_t position = rest.find(place);
    LRNN_CHECK(position != std::string_view::npos, "[RenderPage] the page has no place {}", place);
    page += rest.substr(0, position);
    page += text;
    rest.remove_prefix(position + place.size());
  }
  page += rest;
  return page;
}

}  // namespace lrnn
