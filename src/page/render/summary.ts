import { fieldName } from '#ast/fields.ts';
import { fillPiped } from '#ast/piping.ts';
import { type Form, isSeen, listQuestions } from '#ast/tree.ts';
import { type Html, html } from './html.ts';
import type { Posted } from './elements/conditional.ts';
import { countShownRows, rowName } from './elements/rows.ts';
import { questionLabels } from './question-label.ts';
import type { SayAnswer } from './piped.ts';
import type { FieldMessage, FormView } from './view.ts';
import { nameProblem } from '../words/words.ts';

/**
 * All errors at the top of the page, each behind its question's label and in the words that stand at the field, and a
 * link to it (docs/rules.md P3, P4). It takes the focus when the page loads.
 */
export function errorSummary(
  { form, errors, words, say }: Pick<FormView, 'form' | 'errors' | 'words'> & { readonly say: SayAnswer },
  posted: Posted,
): Html {
  const names = new Set(namesOnPage(form, posted));
  // An error may name what the page does not show, such as a question that was removed meanwhile.
  const labelOf = questionLabels(form, words, (text, row) => fillPiped(text, (id) => say(id, row)));
  const item = ({ field, message }: FieldMessage) => {
    const said = nameProblem(labelOf(field), message, words);
    return names.has(field) ? html`<li><a href="#${field}">${said}</a></li>` : html`<li>${said}</li>`;
  };
  return html`<div class="summary" role="alert" tabindex="-1" autofocus aria-labelledby="_problem">
<h2 id="_problem">${words.problem}</h2>
<ul>
${errors.map(item)}
</ul>
</div>`;
}

/** The ids that an error can lead to: fields, groups and their rows. */
function* namesOnPage(form: Form, { answers, held }: Posted): Generator<string> {
  for (const question of listQuestions(form)) {
    if (!isSeen(question.element)) continue;
    const { id } = question.element.attrs;
    yield id;
    if (question.kind === 'input') continue;
    for (let index = 0; index < countShownRows(question.element, answers, held); index += 1) {
      yield rowName(id, index);
      for (const input of question.inputs.filter(isSeen))
        yield fieldName(input, { group: question.element, index });
    }
  }
}
