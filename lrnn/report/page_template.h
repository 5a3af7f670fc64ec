// The report page as web/build.mjs bundles it: one HTML document with styles and script inside and three places to
// fill,
// {{title}}, {{table}} and {{report}}.
#pragma once

#include <string_view>

namespace lrnn {

std::string_view ReportPageTemplate();

}  // namespace lrnn
