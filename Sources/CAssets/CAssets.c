#include "CAssets.h"

// The files themselves, read by the compiler: a copy could differ from what the tests look at.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char picture_css[] = {
#embed "Assets/picture.css" suffix(, 0)
};

static const char style_css[] = {
#embed "Assets/style.css" suffix(, 0)
};

static const char script_js[] = {
#embed "Assets/script.js" suffix(, 0)
};

static const char icon_svg[] = {
#embed "Assets/icon.svg" suffix(, 0)
};

const char *pipeline_asset_picture_css(void) { return picture_css; }
const char *pipeline_asset_style_css(void) { return style_css; }
const char *pipeline_asset_script_js(void) { return script_js; }
const char *pipeline_asset_icon_svg(void) { return icon_svg; }
