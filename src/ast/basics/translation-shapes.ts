/** The texts of one node in one language, by the attribute; of attributes that hold options, their labels by id. */
export type Translation = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The texts of one node in the form's other languages, by BCP-47 tag. */
export type Translations = Readonly<Record<string, Translation>>;
