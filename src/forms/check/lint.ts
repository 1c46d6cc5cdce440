import {
  type Form,
  isInput,
  isSeen,
  languagesOf,
  optionsOf,
  type PlacedElement,
  placeholderOf,
  walkElements,
} from '#ast/tree.ts';
import { elements } from '#ast/elements.ts';
import { quote } from '#ast/problems.ts';
import type { Settings } from '#ast/settings.ts';
import { listTexts, missingIn } from '#ast/translations/texts.ts';
import type { Judgement } from '../shapes.ts';

type Warning = Judgement['warnings'][number];

/** From so many options on, a list to choose from is quicker to go through than buttons that are all read out. */
const mostButtons = 7;

/**
 * What is valid and still keeps people with disabilities from filling in a form well, each with the path of its node.
 * Contrast is not among it: a theme that cannot be read is refused (ast/theme/check-theme.ts).
 */
export function findWarnings(form: Form, settings: Settings = {}): Warning[] {
  return [
    ...untitledSteps(form),
    ...untranslated(form, settings),
    ...[...walkElements(form)].flatMap(warningsOf(form)),
  ];
}

/** So many of the texts that a language lacks are named. */
const namedTexts = 5;

/** What each language lacks: visitors read it in the form's own. */
function untranslated(form: Form, settings: Settings): Warning[] {
  const texts = listTexts({ structure: form, settings });
  return languagesOf(form)
    .slice(1)
    .flatMap((language): Warning[] => {
      const missing = missingIn(texts, language);
      if (missing.length === 0) return [];
      const named = missing.slice(0, namedTexts).map(({ key }) => key);
      const more = missing.length - named.length;
      const which = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      const count = `${missing.length} of ${texts.length} texts`;
      return [
        {
          rule: 'untranslated',
          message: `${count} are not translated to ${quote(language)}: ${which}.`,
          path: [],
        },
      ];
    });
}

function untitledSteps({ children: steps }: Form): Warning[] {
  if (steps.length < 2) return [];
  return steps.flatMap(({ attrs }, index) =>
    attrs?.title?.trim()
      ? []
      : [
          {
            rule: 'untitled-step',
            message: `Step ${index + 1} has no title: who cannot see the page is not told where they are.`,
            path: [index],
          },
        ],
  );
}

const untitledContent = (type: 'heading' | 'paragraph', path: readonly number[]): Warning => ({
  rule: 'empty-content',
  message: `The ${type} shows nothing: give it a "label".`,
  path: [...path],
});

/** The words of a label as they are heard. */
const heard = (label: string): string => label.trim().toLowerCase();

function warningsOf(form: Form): (placed: PlacedElement) => Warning[] {
  const seen = new Map<string, number>();
  const isLong = form.children.length > 1;
  return ({ element, path, parent }) => {
    if (element.type === 'heading' || element.type === 'paragraph')
      return element.attrs?.label?.trim() ? [] : [untitledContent(element.type, path)];
    if (!isInput(element) || !isSeen(element)) return [];
    const { label } = element.attrs;
    const placeholder = 'placeholder' in elements[element.type].attrs ? placeholderOf(element) : undefined;
    const place = `${path[0]} ${parent?.attrs.id ?? ''} ${heard(label)}`;
    seen.set(place, (seen.get(place) ?? 0) + 1);
    const found: [rule: string, message: string][] = [];
    if (!/[\p{L}\p{N}]/u.test(label))
      found.push(['wordless-label', `The label ${quote(label)} has no word that can be read out.`]);
    if (seen.get(place)! > 1)
      found.push([
        'repeated-label',
        `Another question of this ${isLong ? 'step' : 'form'} is called ${quote(label)} too: by ear they are the same.`,
      ]);
    if (placeholder !== undefined && heard(placeholder) === heard(label))
      found.push([
        'placeholder-as-label',
        `The placeholder of ${quote(label)} repeats its label: it says nothing more.`,
      ]);
    else if (placeholder !== undefined && placeholder.length > 40 && element.attrs.help_text === undefined)
      found.push([
        'placeholder-as-help',
        `The placeholder of ${quote(label)} is gone as soon as somebody types: make it the help text.`,
      ]);
    if (element.type === 'radio' && optionsOf(element).length > mostButtons)
      found.push([
        'many-buttons',
        `${quote(label)} shows ${optionsOf(element).length} buttons, which are all gone through one by one: a dropdown is quicker.`,
      ]);
    return found.map(([rule, message]) => ({ rule, message, path: [...path] }));
  };
}
