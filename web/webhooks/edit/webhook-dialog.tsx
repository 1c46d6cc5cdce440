import './header-fields.css';
import { type ReactElement, useState } from 'react';
import { urlProblem } from '#rules/url-problem.ts';
import type { Webhook, WebhookChange, WebhookWithSecret } from '#webhooks/shapes.ts';
import { isConcurrentChangeError } from '../../api/client.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Checkbox, CheckboxGroup } from '../../design/checkbox.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { FieldHelp, TextField } from '../../design/field.tsx';
import { ConcurrentChangeMessage, Message, SaveErrorMessage } from '../../design/message.tsx';
import { toastDone } from '../../design/toast.tsx';
import { useLeft } from '../../design/use-left.ts';
import { type EventKind, eventChoices, type WebhookFormat } from '../events.ts';
import { FilterField } from '../filter/filter.tsx';
import { type FilterDraft, filterProblem, filterToSend } from '../filter/filter-draft.ts';
import type { WebhookOwner, WebhookRules } from '../webhooks-query.ts';
import { FormatField, formatToSend } from './format-field.tsx';
import {
  emptyHeader,
  firstSecretChoice,
  type HeaderDraft,
  headerDrafts,
  headersToSend,
  mostHeaders,
  type SecretChoice,
  secretToSend,
} from './header-draft.ts';
import { SecretDialog, SecretField } from './secret.tsx';

type HeaderProps = {
  headers: readonly HeaderDraft[];
  onChange: (headers: HeaderDraft[]) => void;
  error: string | undefined;
};

/** Custom headers of every delivery. A saved value is not shown again, only kept or replaced. */
function HeaderFields({ headers, onChange, error }: HeaderProps): ReactElement {
  const change = (key: string, what: Partial<HeaderDraft>): void =>
    onChange(headers.map((header) => (header.key === key ? { ...header, ...what } : header)));
  return (
    <fieldset className="header-fields">
      <legend className="field-label">Headers</legend>
      <FieldHelp description="Sent with every delivery, for example Authorization. Values are encrypted and will not be shown again." />
      {headers.map(({ key, name, value, isStored }, index) => (
        <div key={key} className="header-field">
          <TextField
            label={`Header ${index + 1} name`}
            value={name}
            isReadOnly={isStored}
            onChange={(text) => change(key, { name: text.trim() })}
            spellCheck="false"
          />
          <TextField
            label={`Header ${index + 1} value`}
            value={value}
            placeholder={isStored ? 'unchanged' : ''}
            onChange={(text) => change(key, { value: text })}
            spellCheck="false"
          />
          <IconButton
            icon="remove"
            label={`Remove header ${name || index + 1}`}
            onPress={() => onChange(headers.filter((header) => header.key !== key))}
          />
        </div>
      ))}
      {headers.length < mostHeaders && (
        <Button size="small" icon="add" onPress={() => onChange([...headers, emptyHeader()])}>
          Add header
        </Button>
      )}
      {error && <SaveErrorMessage>{error}</SaveErrorMessage>}
    </fieldset>
  );
}

type Props = {
  form: WebhookOwner;
  /** The webhook to edit; without it, a new one is created. */
  webhook?: Webhook;
  rules: WebhookRules;
  onClose: () => void;
  /** Runs after creation, and after the dialog with the secret if there is one. */
  onCreated?: (id: string) => void;
};

type Draft = {
  url: string;
  events: EventKind[];
  choice: SecretChoice;
  entered: string;
  overlap: boolean;
  headers: HeaderDraft[];
  filter: FilterDraft;
  format: WebhookFormat;
  template: string;
  pauses: boolean;
};

/** The template of a new webhook. */
const firstTemplate = '{\n  "text": "{{form_name}}: {{answers}}"\n}';

/** Returns the saved format. A template is edited as text. */
const formatOf = (webhook: Webhook | undefined): Pick<Draft, 'format' | 'template'> => {
  const { format = 'standard', template = null } = webhook ?? {};
  const text = typeof template === 'string' ? template : JSON.stringify(template, null, 2);
  return { format, template: template === null ? firstTemplate : text };
};

const draftOf = (webhook: Webhook | undefined, areSecretsAllowed: boolean): Draft => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? ['submission.created'],
  choice: firstSecretChoice(webhook, areSecretsAllowed),
  entered: '',
  overlap: true,
  headers: headerDrafts(webhook),
  filter: webhook?.filter ?? null,
  ...formatOf(webhook),
  pauses: webhook?.pauses_on_failure ?? true,
});

/** Creates or edits a webhook, then shows a new secret only once. */
export function WebhookDialog({ form, webhook: latest, rules, onClose, onCreated }: Props): ReactElement {
  // The webhook as it was when the edit began, because the screen behind refreshes every few seconds.
  const [webhook] = useState(latest);
  const [draft, setDraft] = useState(() => draftOf(webhook, rules.secrets_allowed));
  const { isLeft: wasLeft, leave } = useLeft(false);
  const [wasSent, setSent] = useState(false);
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const save = useAction({
    run: () => saveWebhook(form, webhook, draft),
    onDone: ({ secret, id }) => secret === null && finish(id),
  });
  const finish = (id: string): void => {
    toastDone(webhook ? 'The webhook was changed.' : 'The webhook was created.');
    onClose();
    if (!webhook) onCreated?.(id);
  };
  const saved = save.data;
  if (saved?.secret)
    return (
      <SecretDialog
        form={form}
        webhook={saved.id}
        secret={saved.secret}
        isOpen
        onClose={() => finish(saved.id)}
      />
    );
  const typedProblem = wasLeft || /^http:/i.test(draft.url) ? urlProblem(draft.url) : undefined;
  return (
    <Dialog
      title={webhook ? 'Edit webhook' : 'Add webhook'}
      size="medium"
      onClose={onClose}
      isPending={save.isPending}
      onSubmit={() => {
        leave();
        setSent(true);
        const isSendable = urlProblem(draft.url) === undefined && filterProblem(draft.filter) === undefined;
        if (isSendable) save.mutate();
      }}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          {/* Not isPending: react-aria would announce a button that is removed when the next dialog opens. */}
          <Button type="submit" variant="primary">
            {save.isPending ? 'Saving…' : webhook ? 'Save changes' : 'Add webhook'}
          </Button>
        </>
      }
    >
      <TextField
        label="URL"
        description={webhook ? 'Deliveries waiting for a retry go to the new URL.' : <WhereTo />}
        placeholder="https://example.com/hooks/formloom"
        type="url"
        inputMode="url"
        autoFocus
        value={draft.url}
        onChange={(text) => set({ url: text.trim() })}
        onBlur={leave}
        error={typedProblem ?? save.of('url')}
      />
      <FormatField
        form={form}
        url={draft.url}
        format={draft.format}
        template={draft.template}
        onChange={(change) =>
          set({
            ...change,
            // Chat services do not check signatures.
            ...(!webhook && isChat(change.format) && { choice: 'none' }),
          })
        }
        error={save.of('template')}
      />
      <CheckboxGroup
        label="Events"
        choices={eventChoices}
        value={draft.events}
        onChange={(events) => set({ events })}
        error={save.of('events')}
      />
      {form.id !== null && (
        <FilterField
          form={{ ...form, id: form.id }}
          filter={draft.filter}
          onChange={(filter) => set({ filter })}
          error={(wasSent ? filterProblem(draft.filter) : undefined) ?? save.of('filter')}
        />
      )}
      <SecretField
        webhook={webhook}
        isAllowed={rules.secrets_allowed}
        choice={draft.choice}
        entered={draft.entered}
        onChange={set}
        error={save.of('secret')}
        overlap={draft.overlap}
      />
      {rules.pause_days === 0 ? (
        <p className="soft small">
          This server never pauses a failing webhook. Its deliveries are always retried.
        </p>
      ) : (
        <Checkbox
          isSelected={draft.pauses}
          onChange={(pauses) => set({ pauses })}
          description="Events are then logged as failed, and you can send them after you resume the webhook. If this is off, failed deliveries continue to be retried."
        >
          Pause after several days of failures
        </Checkbox>
      )}
      <HeaderFields
        headers={draft.headers}
        onChange={(headers) => set({ headers })}
        error={save.of('headers')}
      />
      {isConcurrentChangeError(save.error) ? (
        <ConcurrentChangeMessage error={save.error} onDiscard={onClose} />
      ) : (
        save.unlocated !== undefined && <Message tone="bad">{save.unlocated}</Message>
      )}
    </Dialog>
  );
}

const isChat = (format: WebhookFormat | undefined): boolean =>
  format !== undefined && format !== 'standard' && format !== 'template';

/** Explains which URLs work, and how to receive deliveries on a machine without a public address. */
function WhereTo(): ReactElement {
  return (
    <>
      Each event is sent here as a POST request. The URL must be reachable from the internet.
      <br />
      <a href="/api/v1/docs/#description/on-your-own-machine" target="_blank" rel="noreferrer">
        To test on your own computer
      </a>
      , run <code>formloom listen --forward-to http://127.0.0.1:4000/hook</code>
    </>
  );
}

async function saveWebhook(
  form: WebhookOwner,
  webhook: Webhook | undefined,
  { url, events, choice, entered, overlap, headers: drafts, filter: drafted, pauses, ...look }: Draft,
): Promise<WebhookWithSecret> {
  const secret = secretToSend(choice, entered, webhook?.has_secret ?? false);
  const headers = headersToSend(drafts, webhook);
  const filter = filterToSend(drafted, webhook);
  const format = formatToSend(look, formatOf(webhook));
  if (!webhook) {
    const body = {
      url,
      events,
      ...(typeof secret === 'string' && { secret }),
      ...(headers && { headers }),
      ...(filter && { filter }),
      ...format,
      pauses_on_failure: pauses,
    };
    return form.id === null
      ? callOperation(form.workspace_id, 'createWorkspaceWebhook', { body })
      : callOperation(form.workspace_id, 'createWebhook', { params: { id: form.id }, body });
  }
  // Send only changes, so that two people who edit different parts do not overwrite each other.
  const change: WebhookChange = {
    ...(url !== webhook.url && { url }),
    ...(events.toSorted().join() !== webhook.events.toSorted().join() && { events }),
    ...(secret !== undefined && { secret, overlap }),
    ...(headers && { headers }),
    ...(filter !== undefined && { filter }),
    ...format,
    ...(pauses !== webhook.pauses_on_failure && { pauses_on_failure: pauses }),
  };
  const place = { params: { id: webhook.id } };
  return callOperation(form.workspace_id, 'changeWebhook', { ...place, body: change }, { seen: webhook });
}
