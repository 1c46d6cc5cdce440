import { isLocale } from '#ast/locales.ts';
import { isTimeZone } from '#ast/rules/today.ts';
import { lineOfHtml } from '../html.ts';
import { prose } from '../sketch.ts';
import type { Part } from '../source.ts';

/** Reads the settings of a form: where people go afterwards, its language, when and after how many answers it closes. */
export function readTallySettings(part: Part, settings: Record<string, unknown>): void {
  const address = textIn(part.part('redirectOnCompletion'));
  if (address) settings['redirect_url'] = address;
  const language = part.text('language');
  if (isLocale(language)) settings['locale'] = language;
  else if (language !== undefined)
    part.part('language').leaveOut('Pages do not speak it. They speak that of the browser.');
  const most = part.number('submissionsLimit');
  if (most !== undefined && isSet(part, 'submissionsLimit')) settings['max_submissions'] = most;
  const closes = isSet(part, 'closeDate') ? closingTime(part) : undefined;
  if (closes !== undefined) settings['closes_at'] = closes;
  const said = [prose(part.part('closeMessageTitle')), prose(part.part('closeMessageDescription'))];
  const message = said.filter((each) => each !== undefined).join('\n\n');
  if (message !== '') settings['closed_message'] = message;
  if (part.flag('saveForLater')) settings['save_progress'] = true;
  part.leaveOutIf('isClosed', 'The form is a draft: nobody can answer it before it is published.');
  if (part.part('password').isThere) part.part('password').leaveOut('Set the password again under Settings.');
  const mailed = textIn(part.part('selfEmailTo'));
  if (mailed && part.flag('hasSelfEmailNotifications') !== false) settings['notification_email'] = mailed;
}

/** A text, or HTML with what it mentions of answers. */
const textIn = (part: Part): string | undefined => part.text() ?? plain(part.text('html'));
const plain = (html: string | undefined): string | undefined =>
  html === undefined ? undefined : lineOfHtml(html.replace(/<[^<>]*>/g, ''));

/** A setting counts where its flag says so (`hasCloseDate`); without a flag it does. */
const isSet = (part: Part, name: string): boolean => {
  const flag = `has${name[0]!.toUpperCase()}${name.slice(1)}`;
  if (part.flag(flag) !== false) return true;
  part.part(name).leaveOut('It is turned off.');
  return false;
};

/** The moment at which the form closes: a day and a time in a zone, or a moment. */
function closingTime(part: Part): string | undefined {
  const [date = '', time = '00:00'] = [part.text('closeDate'), part.text('closeTime')];
  if (date === '') return undefined;
  const zone = part.text('closeTimezone');
  if (/T.*(Z|[+-]\d\d:\d\d)$/.test(date)) return new Date(date).toISOString();
  const local = Date.parse(`${date.slice(0, 10)}T${time.slice(0, 5)}:00Z`);
  if (Number.isNaN(local) || (zone !== undefined && !isTimeZone(zone))) {
    part.part('closeDate').leaveOut('This is no day, time or time zone. Set it anew under Settings.');
    return undefined;
  }
  if (zone === undefined) part.part('closeDate').change('The time is in UTC.');
  if (part.text('closeTime') === undefined) part.part('closeDate').change('It closes when that day begins.');
  return new Date(local - offsetMs(local, zone ?? 'UTC')).toISOString();
}

/** How far the clocks of a zone are ahead of UTC when they show this time. */
function offsetMs(local: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const at = (moment: number): number => Date.parse(`${format.format(moment).replace(' ', 'T')}Z`) - moment;
  return at(local - at(local));
}
