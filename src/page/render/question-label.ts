import { type PlaceholderFiller } from '#ast/answers/format-piped.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import { findInput, indexQuestionsById, parseGroupFieldName } from '#ast/form/fields.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import { type Words } from '../words/words.ts';

/**
 * Returns a function that labels a question by its HTML name, for texts away from the question; in a row,
 * `Guest 2 – Name`. Groups and rows have labels too; unknown names get ''. `say` fills in the answers shown
 * in labels.
 */
export function createQuestionLabeler(
  form: Form,
  words: Pick<Words, 'row'>,
  say: PlaceholderFiller,
): (name: string) => string {
  const questions = indexQuestionsById(listQuestions(form));
  const rowLabel = (label: string, index: number) =>
    fillTemplate(words.row, { label: say(label), number: index + 1 });
  return (name) => {
    const found = findInput(questions, name);
    if (found) {
      const label = say(found.input.attrs.label, found.row);
      return found.row ? `${rowLabel(found.row.group.attrs.label, found.row.index)} – ${label}` : label;
    }
    // Parsed as a field of the row, so that there is only one grammar for names.
    const row = parseGroupFieldName(`${name}[row]`);
    const group = questions.get(row?.group ?? name);
    if (!group) return '';
    return row ? rowLabel(group.element.attrs.label, row.index) : say(group.element.attrs.label);
  };
}
