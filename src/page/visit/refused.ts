import type { LiveForm } from '#forms/live-form.ts';
import type { Refusal } from '../admission.ts';

/** Ends a request for a form that does not admit the visitor. `form` is absent like a form that does not exist. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  readonly form: LiveForm | undefined;
  constructor(refusal: Refusal, form: LiveForm | undefined) {
    super(refusal.error.message, { cause: refusal.error });
    this.refusal = refusal;
    this.form = form;
  }
}
