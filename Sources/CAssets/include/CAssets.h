#pragma once

/// The looks of pictures; ended by a zero.
const char *_Nonnull pipeline_asset_picture_css(void);

/// The looks of pages, those of their pictures aside; ended by a zero.
const char *_Nonnull pipeline_asset_style_css(void);

/// The script of the pages' live changes; ended by a zero.
const char *_Nonnull pipeline_asset_script_js(void);

/// The sign of the pages in a browser's tab, in SVG; ended by a zero.
const char *_Nonnull pipeline_asset_icon_svg(void);
