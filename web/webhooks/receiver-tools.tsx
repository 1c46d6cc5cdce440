import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { hostOf, urlProblem } from '#rules/url-problem.ts';
import type { ExampleReceiver, PayloadDescription, Webhook } from '#webhooks/shapes.ts';
import { callOperation } from '../api/operations.ts';
import { useAction } from '../design/action.tsx';
import { CopyField } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { FormDialog } from '../design/form-dialog.tsx';
import { Select } from '../design/select.tsx';
import { QueryState } from '../design/states.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useLeft } from '../design/use-left.ts';
import { type EventKind, eventChoices } from './events.ts';
import { prettifyJson } from './log-view.ts';
import { exampleReceiversQuery, payloadSamplesQuery, type WebhookOwner } from './webhooks-query.ts';

/** Example code for a receiver that verifies and deduplicates deliveries, in several languages. */
export function ReceiverCode({ form, webhook }: { form: WebhookOwner; webhook: string }): ReactElement {
  const [language, setLanguage] = useState<ExampleReceiver['id']>('node');
  const receivers = useQuery(exampleReceiversQuery(form, webhook));
  return (
    <QueryState query={receivers} lines={4}>
      {({ data }) => (
        <div className="secret-fields">
          <Tabs
            label="Language"
            value={language}
            onChange={setLanguage}
            tabs={data.map(({ id, label, file, code }) => ({
              id,
              label,
              content: (
                <CopyField
                  label={`${file}: verifies each delivery and handles it once`}
                  text={code}
                  isMultiline
                />
              ),
            }))}
          />
        </div>
      )}
    </QueryState>
  );
}

type Tab = 'receiver' | 'sample' | 'schema' | 'type';
type PayloadProps = { form: WebhookOwner; webhook: Webhook; onClose: () => void };

/** Helps developers to write a receiver: example code, a sample event, a schema and a type. */
export function PayloadDialog({ form, webhook, onClose }: PayloadProps): ReactElement {
  const [tab, setTab] = useState<Tab>('receiver');
  const { workspace_id, id } = form;
  const found = useQuery({ ...payloadSamplesQuery({ workspace_id, id: id ?? '' }), enabled: id !== null });
  const show = (draw: (payload: PayloadDescription) => ReactElement): ReactElement => (
    <QueryState query={found} lines={6}>
      {(payload) => <div className="secret-fields">{draw(payload)}</div>}
    </QueryState>
  );
  return (
    <Dialog
      title="Write a receiver"
      description={
        id === null
          ? 'Samples and schemas are on the webhook pages of each form.'
          : 'Based on the live version of this form. Submissions to earlier versions contain the answers of those versions.'
      }
      size="large"
      onClose={onClose}
      done="Done"
    >
      <Tabs
        label="What a receiver gets"
        value={tab}
        onChange={setTab}
        tabs={[
          {
            id: 'receiver' as const,
            label: 'Receiver',
            content: <ReceiverCode form={form} webhook={webhook.id} />,
          },
          {
            id: 'sample' as const,
            label: 'Sample',
            content: show((payload) => <Sample {...payload} webhook={webhook} />),
          },
          {
            id: 'schema' as const,
            label: 'JSON Schema',
            content: show(({ schema, schema_url }) => (
              <>
                <CopyField label="URL (requires an API key that can read forms)" text={schema_url} />
                <CopyField label="JSON Schema of an event" text={schema} isMultiline />
              </>
            )),
          },
          {
            id: 'type' as const,
            label: 'TypeScript',
            content: show(({ type_script }) => (
              <CopyField label="TypeScript type" text={type_script} isMultiline />
            )),
          },
        ].filter((each) => id !== null || each.id === 'receiver')}
      />
    </Dialog>
  );
}

function Sample({ samples, feed_url, webhook }: PayloadDescription & { webhook: Webhook }): ReactElement {
  const [event, setEvent] = useState<EventKind>(webhook.events[0]!);
  const { body } = samples.find((sample) => sample.event === event)!;
  return (
    <>
      <Select
        label="Event"
        choices={webhook.events.map((kind) => ({ id: kind, label: kind }))}
        value={event}
        onChange={setEvent}
      />
      <CopyField label="Sample body" text={prettifyJson(body)} isMultiline />
      <CopyField
        label="URL of the same events (requires an API key that can read submissions)"
        text={feed_url}
      />
    </>
  );
}

const counts = ['1', '3', '5', '10'] as const;
type Draft = { url: string; count: (typeof counts)[number]; event: EventKind };
type TestProps = { form: WebhookOwner; webhook: Webhook; onClose: () => void };

/** Sends the latest real submissions to another URL, to test a receiver during development. */
export function SubmissionTestDialog({ form, webhook, onClose }: TestProps): ReactElement {
  const [draft, setDraft] = useState<Draft>({ url: '', count: '3', event: webhook.events[0]! });
  const { isLeft: wasLeft, leave } = useLeft(false);
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const send = useAction({
    run: () =>
      callOperation(form.workspace_id, 'testWebhook', {
        params: { id: webhook.id },
        body: { event: draft.event, url: draft.url, submissions: Number(draft.count) },
      }),
    done: ({ ids }) =>
      `${formatCount(ids.length, 'test is', 'tests are')} on the way to ${hostOf(draft.url)}.`,
    onDone: onClose,
  });
  return (
    <FormDialog
      title="Test with real submissions"
      description={
        'Sends the latest completed submissions to a URL of your choice. They are signed like every delivery, marked with X-Service-Test, and sent without the webhook’s custom headers. Tests are not included in the statistics.'
      }
      size="medium"
      onClose={onClose}
      onSubmit={() => {
        leave();
        if (urlProblem(draft.url) === undefined) send.mutate();
      }}
      submitLabel="Send tests"
      submitIcon="send"
      action={send}
      error={send.of('url') ? undefined : send.error?.message}
    >
      <TextField
        label="URL"
        description="Real answers are sent to this URL. Make sure that you control it."
        placeholder="https://example.com/hooks/try"
        type="url"
        inputMode="url"
        autoFocus
        value={draft.url}
        onChange={(text) => set({ url: text.trim() })}
        onBlur={leave}
        error={(wasLeft && draft.url ? urlProblem(draft.url) : undefined) ?? send.of('url')}
      />
      <Select
        label="How many"
        choices={counts.map((id) => ({ id, label: id === '1' ? 'The latest one' : `The latest ${id}` }))}
        value={draft.count}
        onChange={(count) => set({ count })}
      />
      <Select
        label="Event"
        choices={eventChoices.map(({ id, label }) => ({ id, label }))}
        value={draft.event}
        onChange={(event) => set({ event })}
      />
    </FormDialog>
  );
}
