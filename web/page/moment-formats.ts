import type { Page } from './page.ts';

/** The parts of a control for dates and times, and how many letters stand for each. */
const letters: Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, number>>> = {
  day: 2,
  month: 2,
  year: 4,
};

/**
 * In WebKit, an empty control for a date or time shows the current one in a fainter color, which looks like
 * an answer. Shows the format instead, as other browsers do: "mm/dd/yyyy".
 */
export function startOnPage({ form }: Page): void {
  const refresh = (): void => {
    for (const control of form.querySelectorAll<HTMLInputElement>('.unread + input')) showFormat(control);
  };
  // The timer runs after the other listeners, because a click can add a row.
  for (const event of ['input', 'change', 'focusout', 'step', 'click'] as const)
    form.addEventListener(event, () => setTimeout(refresh));
  refresh();
}

function showFormat(control: HTMLInputElement): void {
  if (control.nextElementSibling?.className !== 'format') {
    const format = document.createElement('span');
    format.className = 'format';
    // The control itself is announced with its parts.
    format.ariaHidden = 'true';
    format.dir = 'ltr';
    format.textContent = formatOf(control.type);
    control.after(format);
  }
  // A control with only some of its parts has no value either.
  control.classList.toggle('unset', control.value === '' && !control.validity.badInput);
}

/** Returns the format of the browser's control, in the browser's language. */
function formatOf(type: string): string {
  const { language } = navigator;
  const names = new Intl.DisplayNames(language, { type: 'dateTimeField' });
  const part = ({ type: kind, value }: Intl.DateTimeFormatPart): string => {
    if (kind === 'literal') return value;
    const count = letters[kind];
    return count === undefined ? '--' : names.of(kind)!.charAt(0).toLowerCase().repeat(count);
  };
  const format = new Intl.DateTimeFormat(language, {
    ...(type !== 'time' && { dateStyle: 'short' }),
    ...(type !== 'date' && { timeStyle: 'short' }),
  });
  return format.formatToParts().map(part).join('');
}
