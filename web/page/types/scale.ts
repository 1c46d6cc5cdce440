import type { Page } from '../page.ts';

/** Shows the sliders of a page. Their answers are in radio buttons, which the sliders replace. */
export function startOnPage(page: Page): void {
  const { form, data } = page;
  const showAll = (): void => {
    for (const box of form.querySelectorAll<HTMLElement>('.slider')) {
      setUp(box);
      show(box, data.words.noAnswer);
    }
  };
  showAll();
  form.addEventListener('rows', showAll);
  const choose = (box: HTMLElement, value: string): void => {
    const radio = radiosOf(box).find((each) => (value === '' ? each.checked : each.value === value));
    if (!radio) return;
    radio.checked = value !== '';
    show(box, data.words.noAnswer);
    radio.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const boxOf = ({ target }: Event): HTMLElement | null =>
    (target as Element).closest<HTMLElement>('.slider');
  const slide = (event: Event): void => {
    const box = boxOf(event);
    if (!box || !(event.target instanceof HTMLInputElement)) return;
    // The answer is the radio button's, which reports its own change.
    event.stopPropagation();
    choose(box, rangeOf(box).value);
  };
  form.addEventListener('input', slide, true);
  form.addEventListener('click', (event) => {
    const box = boxOf(event);
    if (!box) return;
    // A click on the middle, where the slider is at first, changes nothing but is an answer.
    if (event.target instanceof HTMLInputElement) return choose(box, rangeOf(box).value);
    clear(box);
  });
  const clear = (box: HTMLElement): void => {
    choose(box, '');
    rangeOf(box).focus();
    page.announce(data.words.noAnswer);
  };
  form.addEventListener('keydown', (event) => {
    const box = boxOf(event);
    if (!box || !(event.target instanceof HTMLInputElement)) return;
    const { key } = event;
    if ((key === 'Delete' || key === 'Backspace') && box.querySelector('button')!.checkVisibility())
      clear(box);
    else if (key === ' ') choose(box, rangeOf(box).value);
    else return;
    event.preventDefault();
  });
}

const rangeOf = (box: HTMLElement): HTMLInputElement => box.querySelector('input')!;

const radiosOf = (box: HTMLElement): HTMLInputElement[] => [
  ...box.parentElement!.querySelectorAll<HTMLInputElement>('[type=radio]'),
];

/** Shows the slider in place of its radio buttons. Links to the question lead to it. */
function setUp(box: HTMLElement): void {
  const first = radiosOf(box).find(({ id }) => id !== '');
  box.hidden = false;
  const group = box.closest('.field')!;
  if (group.ariaInvalid) rangeOf(box).ariaInvalid = group.ariaInvalid;
  group.ariaInvalid = null;
  group.role = 'group';
  if (!first) return;
  rangeOf(box).id = first.id;
  rangeOf(box).autofocus = first.autofocus;
  if (first.autofocus || first === document.activeElement) rangeOf(box).focus();
  first.removeAttribute('id');
}

/** Shows the chosen level; without one, the slider is in the middle and has no value. */
function show(box: HTMLElement, noAnswer: string): void {
  const range = rangeOf(box);
  const radio = radiosOf(box).find(({ checked }) => checked);
  range.value = radio?.value ?? range.defaultValue;
  range.setAttribute('aria-valuetext', radio?.closest('label')?.textContent.trim() ?? noAnswer);
  box.classList.toggle('untouched', !radio);
  const part = (Number(range.value) - Number(range.min)) / (Number(range.max) - Number(range.min));
  box.style.setProperty('--filled', radio ? `${100 * part}%` : '');
  box.querySelector('output')!.textContent = radio?.value ?? '–';
}
