#include "core/describe/texts.h"

#include "core/describe/explain.h"
#include "core/describe/readme.h"

const struct tree_texts describe_texts = {
    .write_readme = readme_write,
    .write_item_info = explain_write_info,
    .write_list_info = explain_write_list_info,
};
