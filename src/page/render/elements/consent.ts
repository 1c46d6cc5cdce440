import { isRecord } from '#ast/json.ts';
import { markedLine } from '../rich-text.ts';
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
  // As it was posted, or as it was stored.
  const isChosen = field.value === true || isRecord(field.value);
  const list = [{ value: 'yes', label: markedLine(element.attrs.statement), isChosen }];
  return choices(field, 'checkbox', list, { layout: 'consent' });
});
