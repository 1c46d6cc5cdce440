import { isRecord, own } from '#ast/basics/json.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { markedLine } from '../../markup/rich-text.ts';
import { choices } from './choices.ts';
import { fieldAt } from './place.ts';
import { styled } from './styled.ts';

const style = `
.options_consent > .option { align-items: flex-start; }
.options_consent > .option > span { white-space: pre-line; }
`;

/** One box to tick, beside the very text that is agreed to. */
export const consent = styled<'consent'>([style], (element, place) => {
  const field = fieldAt(element, place);
  // As it was posted, or as it was stored: in a row the moment then says which one it is.
  const given = inputRules.consent.tidy(field.value);
  const isChosen = given === true || isRecord(given);
  const at = isRecord(given) ? own(given, 'at') : undefined;
  const list = [
    {
      value: place.row && typeof at === 'string' ? at : 'yes',
      label: markedLine(element.attrs.statement),
      isChosen,
    },
  ];
  return choices(field, 'checkbox', list, { layout: 'consent' });
});
