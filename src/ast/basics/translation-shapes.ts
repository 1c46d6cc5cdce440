/** The texts of one node in one language, by attribute. Attributes with options have labels by ID. */
export type Translation = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The texts of a node in the other languages of the form, by BCP 47 tag. */
export type Translations = Readonly<Record<string, Translation>>;
