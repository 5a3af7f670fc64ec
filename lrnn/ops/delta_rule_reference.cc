#include "lrnn/ops/delta_rule.h"
