/** Two isolates (U+2068, U+2069) in brackets: they tell a label from brackets of the author. */
const filled = /\[\u2068([^\u2069]*)\u2069\]/;

/** Formats the label of a question inside of another text: `[Full name]`. */
export const formatPipedLabel = (label: string): string => `[\u2068${label}\u2069]`;

/** Splits a text into literal parts and the labels in it, alternating. */
export const splitPipedText = (text: string): readonly string[] => text.split(filled);
