import type { Api } from './api.ts';
import { openApi } from './client.ts';
import type { DefinedForm } from './define-form.ts';
import { type FormHandle, formHandle } from './form-handle.ts';
import type { ClientOptions } from './transport/call.ts';

export type * from './api.ts';
export { type AnswersOf, type DefinedForm, defineForm, type FormDefinition } from './define-form.ts';
export type { FormHandle, SubmissionOf } from './form-handle.ts';
export type { CallOptions, ClientOptions, FileBody, Id, List } from './transport/call.ts';
export * from './transport/errors.ts';
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.ts';

export interface Client extends Api {
  /** Returns a handle for a form from defineForm, with typed answers. */
  form<Answers>(definition: DefinedForm<Answers>): FormHandle<Answers>;
}

/** Creates a client for a service: `client.forms.list()`. */
export function createClient(options: ClientOptions): Client {
  const api = openApi(options);
  return { ...api, form: (definition) => formHandle(api, definition) };
}
