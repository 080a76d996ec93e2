#pragma once

/// A text that the program carries.
struct pipeline_text {
    /// Of an example the name of its file in `Pipelines`, of a page that of the topic; without an ending.
    const char *_Nonnull name;
    /// The whole file, in UTF-8, ended by a zero.
    const char *_Nonnull text;
};

/// Returns the example at the index, in the order of their names; null after the last.
const struct pipeline_text *_Nullable pipeline_example_at(unsigned index);

/// Returns the page of the documentation at the index; null after the last.
const struct pipeline_text *_Nullable pipeline_page_at(unsigned index);
