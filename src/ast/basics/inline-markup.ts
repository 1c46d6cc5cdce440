/** `**bold**`, and links: `[text](https://…)` or `mailto:`. Each part ends where the next begins. */
export const inlineMarkup =
  /\*\*([^*\n]+)\*\*|\[([^[\]\n]{1,500})\]\(((?:https:\/\/|mailto:)[^\s()<>]{1,2000})\)/g;

/** Returns an author's text as plain text. A link becomes its text, with the URL in brackets. */
export const stripInlineMarkup = (text: string): string =>
  text.replaceAll(
    inlineMarkup,
    (_, bold?: string, said?: string, address?: string) =>
      bold ?? `${said} (${address!.replace('mailto:', '')})`,
  );
