import { getProperty, isRecord } from '#ast/basics/json.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { renderMarkedLine } from '../../markup/rich-text.ts';
import { renderChoices } from './choices.ts';
import { fieldAt, withStyles } from './element-context.ts';

const style = `
.options_consent > .option { align-items: flex-start; }
.options_consent > .option > span { white-space: pre-line; }
`;

/** One checkbox beside the full consent text. */
export const renderConsent = withStyles<'consent'>([style], (element, place) => {
  const field = fieldAt(element, place);
  // The value as posted or stored. In a row, the stored time identifies which consent it is.
  const given = inputRules.consent.tidy(field.value);
  const isChosen = given === true || isRecord(given);
  const at = isRecord(given) ? getProperty(given, 'at') : undefined;
  const list = [
    {
      value: place.row && typeof at === 'string' ? at : 'yes',
      label: renderMarkedLine(element.attrs.statement),
      isChosen,
    },
  ];
  return renderChoices(field, 'checkbox', list, { layout: 'consent' });
});
