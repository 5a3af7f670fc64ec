#include "lrnn/ops/selective_scan.h"
