import { fillTemplate } from '#ast/basics/words.ts';
import { findInput, type GroupRow, indexQuestionsById, parseGroupFieldName } from '#ast/form/fields.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import type { FormatAnswer } from '../markup/html.ts';
import { type Words } from '../words/words.ts';

/**
 * Returns a function that labels a question by its HTML name, for texts away from the question; in a row,
 * `Guest 2 – Name`. Groups and rows have labels too; unknown names get ''. `formatAnswer` formats the
 * answers shown in labels; it is absent if no label shows one.
 */
export function createQuestionLabeler(
  form: Form,
  words: Pick<Words, 'row'>,
  formatAnswer: FormatAnswer | undefined,
): (name: string) => string {
  const fill = (label: string, row?: GroupRow): string =>
    formatAnswer ? fillPiped(label, (id) => formatAnswer(id, row)) : label;
  const questions = indexQuestionsById(listQuestions(form));
  const rowLabel = (label: string, index: number) =>
    fillTemplate(words.row, { label: fill(label), number: index + 1 });
  return (name) => {
    const found = findInput(questions, name);
    if (found) {
      const label = fill(found.input.attrs.label, found.row);
      return found.row ? `${rowLabel(found.row.group.attrs.label, found.row.index)} – ${label}` : label;
    }
    // Parsed as a field of the row, so that there is only one grammar for names.
    const row = parseGroupFieldName(`${name}[row]`);
    const group = questions.get(row?.group ?? name);
    if (!group) return '';
    return row ? rowLabel(group.element.attrs.label, row.index) : fill(group.element.attrs.label);
  };
}
