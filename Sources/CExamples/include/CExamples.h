#pragma once

/// A pipeline that the program carries.
struct pipeline_example {
    /// The name of its file in `Pipelines`, without the ending.
    const char *_Nonnull name;
    /// The whole file, in UTF-8, ended by a zero.
    const char *_Nonnull text;
};

/// Returns the example at the index, in the order of their names; null after the last.
const struct pipeline_example *_Nullable pipeline_example_at(unsigned index);
