import { blank } from './blank.ts';
import { contact } from './contact.ts';
import { eventRegistration } from './event-registration.ts';
import { feedback } from './feedback.ts';
import { jobApplication } from './job-application.ts';
import { order } from './order.ts';
import type { Template } from './template.ts';

/** What a form can begin with, in the order in which it is offered. */
export const templates: readonly Template[] = [
  blank,
  contact,
  eventRegistration,
  jobApplication,
  feedback,
  order,
];
