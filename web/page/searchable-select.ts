import { makeElement, type Page } from './page.ts';

/**
 * Gives long dropdowns a search field, as an editable combobox (ARIA Authoring Practices). The answer stays
 * in the `select`, which is hidden.
 */
export function startOnPage(page: Page): void {
  const known = new WeakSet<HTMLSelectElement>();
  const setUpAll = (): void => {
    for (const select of page.form.querySelectorAll<HTMLSelectElement>('[data-search]')) {
      if (known.has(select)) continue;
      known.add(select);
      setUp(page, select);
    }
  };
  setUpAll();
  page.form.addEventListener('rows', setUpAll);
}

/** Folds a text for comparison: letters match with and without marks above and below them. */
const foldText = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();

/** Lists the entries that match a text; entries that begin with it come first. */
function findEntries(select: HTMLSelectElement, text: string): HTMLOptionElement[] {
  const wanted = foldText(text);
  const offered = [...select.options].filter(({ value, hidden }) => value !== '' && !hidden);
  // 0 for entries that begin with the text, 1 for those that have it later.
  const found = Map.groupBy(offered, (entry) => Math.sign(foldText(entry.text).indexOf(wanted)));
  return [...(found.get(0) ?? []), ...(found.get(1) ?? [])];
}

function setUp(page: Page, select: HTMLSelectElement): void {
  const box = select.parentElement!;
  // A copied row has a copy of the previous row's search field.
  const copies = [...box.querySelectorAll<HTMLElement>(':scope > [role=combobox], :scope > .matches')];
  const input = makeElement('input', { type: 'text', autocomplete: 'off', id: copies[0]?.id ?? select.id });
  for (const copy of copies) copy.remove();
  const list = makeElement('ul', { className: 'matches', hidden: true, role: 'listbox' });
  input.placeholder = select.options[0]!.text;
  input.setAttribute('aria-autocomplete', 'list');
  input.role = 'combobox';
  input.ariaExpanded = 'false';
  list.ariaLabel = box.querySelector('label')!.textContent;
  for (const name of ['aria-describedby', 'aria-invalid']) {
    const value = select.getAttribute(name);
    if (value !== null) input.setAttribute(name, value);
  }
  const hasFocus = select === document.activeElement;
  select.removeAttribute('id');
  select.hidden = true;
  select.before(input, list);
  if (hasFocus) input.focus();
  follow(page, { select, input, list });
}

type Combobox = {
  readonly select: HTMLSelectElement;
  readonly input: HTMLInputElement;
  readonly list: HTMLUListElement;
};

function follow(page: Page, { select, input, list }: Combobox): void {
  let entries: HTMLOptionElement[] = [];
  let active = -1;
  const activate = (index: number): void => {
    active = index;
    for (const [at, item] of [...list.children].entries()) item.ariaSelected = String(at === index);
    const item = list.children[index];
    if (!item || index < 0) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', item.id);
    item.scrollIntoView({ block: 'nearest' });
  };
  const showChoice = (): void => {
    input.value = select.value === '' ? '' : select.selectedOptions[0]!.text;
  };
  const open = (text: string): void => {
    entries = findEntries(select, text);
    const items = entries.map((entry, index) => {
      const item = makeElement('li', { id: `${input.id}~${index}`, role: 'option', textContent: entry.text });
      item.ariaDisabled = entry.disabled ? 'true' : null;
      item.classList.toggle('chosen', entry.selected);
      return item;
    });
    const none = makeElement('li', { textContent: select.dataset['search']!, role: 'option' });
    none.ariaDisabled = 'true';
    list.replaceChildren(...(items.length > 0 ? items : [none]));
    if (items.length === 0) page.announce(none.textContent);
    list.hidden = false;
    list.id = `${input.id}~list`;
    input.setAttribute('aria-controls', list.id);
    input.ariaExpanded = 'true';
    activate(entries.findIndex((entry) => (text === '' ? entry.selected : !entry.disabled)));
    list.scrollIntoView({ block: 'nearest' });
  };
  const close = (): void => {
    list.hidden = true;
    input.ariaExpanded = 'false';
    activate(-1);
    showChoice();
  };
  const choose = (entry: HTMLOptionElement | undefined): void => {
    const { value } = select;
    if (!entry?.disabled) select.value = entry?.value ?? '';
    close();
    if (select.value !== value) select.dispatchEvent(new Event('input', { bubbles: true }));
  };
  /** Takes a typed text that names one entry; any other text is dropped. */
  const leave = (): void => {
    if (input.value.trim() === '') return choose(undefined);
    const found = findEntries(select, input.value);
    const exact = found.filter(({ text }) => foldText(text) === foldText(input.value));
    const [only, ...more] = exact.length > 0 ? exact : found;
    if (only && more.length === 0) choose(only);
    else close();
  };
  const step = (direction: 1 | -1): void => {
    if (list.hidden) return open('');
    const { length } = entries;
    const places = entries.map((_, index) => (active + direction * (index + 1) + 2 * length) % length);
    activate(places.find((place) => !entries[place]!.disabled) ?? -1);
  };
  input.addEventListener('input', (event) => {
    // Only a chosen entry is an answer.
    event.stopPropagation();
    open(input.value);
  });
  input.addEventListener('click', () => {
    if (!list.hidden) return;
    input.select();
    open('');
  });
  input.addEventListener('blur', leave);
  input.addEventListener('keydown', (event) => {
    const { key } = event;
    if (event.isComposing) return;
    if (key === 'ArrowDown' || key === 'ArrowUp') step(key === 'ArrowDown' ? 1 : -1);
    else if (list.hidden || (key !== 'Enter' && key !== 'Escape')) return;
    else if (key === 'Enter' && active >= 0) choose(entries[active]);
    else close();
    event.preventDefault();
    event.stopPropagation();
  });
  // The focus stays in the search field.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const entry = entries[[...list.children].indexOf(target as Element)];
    if (entry && !entry.disabled) choose(entry);
  });
  for (const change of ['input', 'step', 'rows'])
    page.form.addEventListener(change, () => list.hidden && input !== document.activeElement && showChoice());
  showChoice();
}
