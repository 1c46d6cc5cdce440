import { labelOf, type Option } from '#ast/answers/options.ts';
import type { AttributeSpecs } from '#ast/attributes.ts';
import { elements, isElementType } from '#ast/elements.ts';
import { toastProblem } from '../../design/toast.tsx';
import { readOptions } from '../../conditions/asked-node.ts';
import type { Editor } from '../editor/editor.ts';
import type { Writing } from '../editor/editor-state.ts';
import type { BuilderPlace } from '../editor/use-editor.ts';
import { setOptions } from '../model/edit.ts';
import { type EditNode, textOf } from '../model/edit-node.ts';
import { pastedIn, pressedIn, relabelled, sayPlace } from '../model/options-text.ts';
import { optionElements, writeLabel } from './write-label.ts';

/** What answers are stored under already, of elements and of their options. */
export type PublishedNames = Pick<BuilderPlace, 'lockedIds' | 'publishedOptions'>;

type OptionPlace = NonNullable<Writing['option']>;

const none: ReadonlySet<string> = new Set();
const lists = ['options', 'rows'] as const;

const optionsIn = ({ attrs }: EditNode, name: OptionPlace['name']): readonly Option[] =>
  Array.isArray(attrs[name]) && readOptions(attrs[name]).length === attrs[name].length
    ? (attrs[name] as readonly Option[])
    : [];

/** The option or row of a node that a click means: in whose text it was, or at whose list that opens. */
export function optionAt(
  element: HTMLElement,
  node: EditNode,
  { target, clientX: x, clientY: y }: Pick<MouseEvent, 'target' | 'clientX' | 'clientY'>,
): Pick<Writing, 'option' | 'at'> | undefined {
  for (const name of lists) {
    const places = optionElements(element, name, optionsIn(node, name).length);
    const index = places.findIndex((place) => (place.closest('.option') ?? place).contains(target as Node));
    if (index !== -1) return { option: { name, index }, at: { x, y } };
  }
  // A control is a picture of itself, which no click hits. What ranks has a list for each place.
  const index = [...element.querySelectorAll(':scope > select, :scope > .places select')].findIndex(
    (select) => {
      const { left, right, top, bottom } = select.getBoundingClientRect();
      return x >= left && x <= right && y >= top && y <= bottom;
    },
  );
  const isOption = index !== -1 && index < optionsIn(node, 'options').length;
  return isOption ? { option: { name: 'options', index } } : undefined;
}

/** Opens the list of a dropdown, or that of what is ranked over its places, for as long as one of it is written. */
function openList(element: HTMLElement, options: readonly Option[]): void {
  const closed = element.querySelector(':scope > select, :scope > .places');
  if (!closed) return;
  const list = document.createElement('div');
  list.className = 'options opened';
  for (const [index, option] of options.entries()) {
    const row = document.createElement('div');
    const text = document.createElement('span');
    row.className = 'option';
    text.textContent = labelOf(option) || sayPlace('option', index);
    if (labelOf(option) === '') text.dataset['blank'] = '';
    row.append(text);
    list.append(row);
  }
  // What is written stays so until the click says what is written next.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  if (closed.matches('select')) closed.after(list);
  else closed.before(list);
}

/** Where the options and rows stand that nobody has written yet. */
export const blankPlaces = (element: HTMLElement, node: EditNode): readonly HTMLElement[] =>
  lists.flatMap((name) => {
    const options = optionsIn(node, name);
    return optionElements(element, name, options.length).filter(
      (_, index) => labelOf(options[index]!) === '',
    );
  });

type Place = {
  readonly element: HTMLElement;
  readonly editor: Editor;
  /** The node as it is at that moment. */
  readonly read: () => EditNode;
  readonly names: PublishedNames;
  readonly onEnd: (byKey: boolean) => void;
};

/**
 * Writes one option, or one row, where it stands: Enter writes the next one, Backspace takes an empty one away, a list that
 * is pasted becomes many. What another one is called already goes no further, and whoever leaves it so is told.
 */
export function writeOption(
  { element, editor, read, names, onEnd }: Place,
  { name, index }: OptionPlace,
  at: Pick<Writing, 'at'>,
): (() => void) | undefined {
  const { key, type } = read();
  const list = (): readonly Option[] => optionsIn(read(), name);
  const given = list()[index];
  if (name === 'options' && optionElements(element, name, 1).length === 0) openList(element, list());
  const place = optionElements(element, name, list().length)[index];
  if (given === undefined || !place || !isElementType(type)) {
    // One without a place here is written in the panel.
    editor.write(undefined);
    return undefined;
  }
  const noun = name === 'rows' ? 'row' : 'option';
  const specs: AttributeSpecs = elements[type].attrs;
  const spec = specs[name];
  const maxItems = spec?.kind === 'options' ? spec.maxItems : 0;
  const published = names.publishedOptions.get(`${textOf(read(), 'id')} ${name}`) ?? none;
  let taken = '';
  const put = (next: { readonly options: readonly Option[]; readonly at: number }): boolean => {
    editor.change((root) => ({
      root: setOptions(root, key, next.options, name),
      select: key,
      write: { key, option: { name, index: next.at } },
    }));
    return true;
  };
  const isTaken = (text: string): boolean =>
    text !== '' && list().some((other, position) => position !== index && labelOf(other) === text);
  return writeLabel(place, {
    text: labelOf(given),
    name: sayPlace(noun, index),
    placeholder: sayPlace(noun, index),
    isMultiline: false,
    ...at,
    onInput: (text) => {
      taken = isTaken(text) ? text : '';
      if (taken) return;
      editor.change((root) => {
        const others = list().toSpliced(index, 1);
        const option = relabelled(list()[index]!, text, others, published);
        return { root: setOptions(root, key, list().with(index, option), name) };
      }, `${name} ${index} ${key}`);
    },
    onKey: (event, text) => {
      const next = taken === '' && pressedIn({ options: list(), at: index }, event, { noun, text, maxItems });
      return next ? put(next) : false;
    },
    onPaste: (text) => {
      const next = pastedIn({ options: list(), at: index }, text, maxItems);
      return next ? put(next) : false;
    },
    onEnd: (byKey) => {
      if (taken) toastProblem(new Error(`Another ${noun} is called “${taken}” already.`));
      onEnd(byKey);
    },
  });
}
