import { type SayText } from '#ast/answers/say-piped.ts';
import { fill } from '#ast/basics/words.ts';
import { findInput, parseRowName, questionsById } from '#ast/form/fields.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import { type Words } from '../words/words.ts';

/**
 * What a question is called where it does not stand, by its HTML name: in a row with the row, `Guest 2 – Name`. The
 * name of a group or of a row has a label too; '' for what is none of the form's. `say` puts in the answers that labels
 * show.
 */
export function questionLabels(
  form: Form,
  words: Pick<Words, 'row'>,
  say: SayText,
): (name: string) => string {
  const questions = questionsById(listQuestions(form));
  const rowLabel = (label: string, index: number) =>
    fill(words.row, { label: say(label), number: index + 1 });
  return (name) => {
    const found = findInput(questions, name);
    if (found) {
      const label = say(found.input.attrs.label, found.row);
      return found.row ? `${rowLabel(found.row.group.attrs.label, found.row.index)} – ${label}` : label;
    }
    // Read as the name of a field in that row, so that names have one grammar.
    const row = parseRowName(`${name}[row]`);
    const group = questions.get(row?.group ?? name);
    if (!group) return '';
    return row ? rowLabel(group.element.attrs.label, row.index) : say(group.element.attrs.label);
  };
}
