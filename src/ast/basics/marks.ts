/** `**bold**`, and `[text](https://…)` or `mailto:`: no other address is a link. Each part ends where the next begins. */
export const marks = /\*\*([^*\n]+)\*\*|\[([^[\]\n]{1,500})\]\(((?:https:\/\/|mailto:)[^\s()<>]{1,2000})\)/g;

/** A text of the author's where only plain words can stand: a link is its words, and its address behind them. */
export const withoutMarks = (text: string): string =>
  text.replaceAll(
    marks,
    (_, bold?: string, said?: string, address?: string) =>
      bold ?? `${said} (${address!.replace('mailto:', '')})`,
  );
