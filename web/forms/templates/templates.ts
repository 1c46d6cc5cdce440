import { elements } from '#ast/elements.ts';
import { walkElements } from '#ast/tree.ts';
import { events } from './events.ts';
import { jobApplication } from './job-application.ts';
import { form, step } from './notation.ts';
import { opinions } from './opinions.ts';
import { order } from './order.ts';
import { quiz } from './quiz.ts';
import { reachingUs } from './reaching-us.ts';
import type { Template } from './template.ts';

/** Nothing yet but a place to put elements. */
const blank: Template = {
  id: 'blank',
  title: 'Blank form',
  description: 'One empty step.',
  structure: form({ name: 'Untitled form' }, step({ layout: 'stack' })),
};

/** What a form can begin with, in groups, in the order in which it is offered. */
export const templateGroups: readonly { readonly title: string; readonly templates: readonly Template[] }[] =
  [
    { title: 'To begin with', templates: [blank, ...reachingUs, jobApplication] },
    { title: 'Opinions and quizzes', templates: [...opinions, quiz] },
    { title: 'Events and orders', templates: [...events, order] },
  ];
export const templates: readonly Template[] = templateGroups.flatMap((group) => group.templates);

/** What a search looks in: what it is called, what it asks, and the kinds of question. */
export function wordsOf({ title, description, structure }: Template): string {
  const asked = [...walkElements(structure)].map(({ element: { type, attrs } }) => {
    const { title: kind, words } = elements[type];
    return `${attrs && 'label' in attrs ? attrs.label : ''} ${kind} ${words}`;
  });
  return [title, description, structure.attrs.name, ...asked].join(' ').toLowerCase();
}
