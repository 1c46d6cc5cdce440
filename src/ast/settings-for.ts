import { fillPiped, isShowable } from './piping.ts';
import { isReceiptElement } from './recipients.ts';
import { isSubjectElement } from './searchable.ts';
import { fitting } from './settings-by-condition.ts';
import type { Settings } from './settings.ts';
import { keepLanguages, mapAllSettingTexts } from './translations/setting-texts.ts';
import { type Form, languagesOf } from './tree.ts';

/**
 * Stored settings as they hold for a structure: without the name of an element that went, for that says nothing any
 * more, and must not be in the way of other settings.
 */
export function settingsFor(form: Form, settings: Settings): Settings {
  const { receipt_email_element: receipt, subject_element: subject } = settings;
  const gone = [
    ...(receipt !== undefined && !isReceiptElement(receipt, form) ? ['receipt_email_element'] : []),
    ...(subject !== undefined && !isSubjectElement(subject, form) ? ['subject_element'] : []),
  ];
  const mend = (text: string): string => fillPiped(text, (id) => (isShowable(form, id) ? `{{${id}}}` : ''));
  const { confirmations, notifications, ...rest } = settings;
  const kept = mapAllSettingTexts(keepLanguages<Settings>(rest, languagesOf(form).slice(1)), mend);
  const all = { ...kept, ...fitting(form, { confirmations, notifications }, mend) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !gone.includes(name)));
}
