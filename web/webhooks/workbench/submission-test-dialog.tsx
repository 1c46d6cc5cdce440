import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { type EventKind, eventChoices } from '../events.ts';
import { hostOf, urlProblem } from '#rules/url-problem.ts';
import { refreshWebhooks } from '../webhooks-query.ts';
import { sayCount } from '#ast/say-count.ts';

const counts = ['1', '3', '5', '10'] as const;
type Draft = { url: string; count: (typeof counts)[number]; event: EventKind };
type Props = { form: LocatedForm; webhook: Webhook; onClose: () => void };

/** Sends the last real submissions to another address, to try out what is being built there. */
export function SubmissionTestDialog({ form, webhook, onClose }: Props): ReactElement {
  const [draft, setDraft] = useState<Draft>({ url: '', count: '3', event: webhook.events[0]! });
  const [wasLeft, setLeft] = useState(false);
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const send = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'testWebhook', {
        params: { id: webhook.id },
        body: { event: draft.event, url: draft.url, submissions: Number(draft.count) },
      }),
    async onSuccess({ ids }) {
      toastDone(`${sayCount(ids.length, 'test is', 'tests are')} on the way to ${hostOf(draft.url)}.`);
      onClose();
      await refreshWebhooks(form);
    },
  });
  const problem = send.error instanceof ApiProblem ? send.error : undefined;
  return (
    <FormDialog
      title="Test with real submissions"
      description={
        'The last completed submissions go to an address of your choice, signed like every delivery, marked with ' +
        'X-Service-Test, and without the headers that are for the webhook. They count for nothing.'
      }
      size="medium"
      isOpen
      onClose={onClose}
      onSubmit={() => {
        setLeft(true);
        if (urlProblem(draft.url) === undefined) send.mutate();
      }}
      submitLabel="Send tests"
      submitIcon="send"
      isPending={send.isPending}
      error={problem?.of('url') ? undefined : send.error?.message}
    >
      <TextField
        label="Address"
        description="Real answers of people go there: make sure that it is yours."
        placeholder="https://example.com/hooks/try"
        type="url"
        inputMode="url"
        autoComplete="off"
        autoFocus
        value={draft.url}
        onChange={(text) => set({ url: text.trim() })}
        onBlur={() => setLeft(true)}
        error={(wasLeft && draft.url ? urlProblem(draft.url) : undefined) ?? problem?.of('url')}
      />
      <Select
        label="How many"
        choices={counts.map((id) => ({ id, label: id === '1' ? 'The last one' : `The last ${id}` }))}
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
