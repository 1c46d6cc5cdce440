import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { hostOf } from '#rules/url-problem.ts';
import type { Webhook } from '#webhooks/shapes.ts';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { localDayOf } from '../../design/day.ts';
import { Menu } from '../../design/menu.tsx';
import { WebhookDialog } from '../edit/webhook-dialog.tsx';
import { type EventKind, eventChoices } from '../events.ts';
import { PayloadDialog, SubmissionTestDialog } from '../receiver-tools.tsx';
import { ReplayDialog } from '../replay.tsx';
import type { WebhookOwner, WebhookRules } from '../webhooks-query.ts';

type SendTestProps = {
  form: WebhookOwner;
  webhook: Webhook;
  /** Called with the ID of the test delivery, to show its outcome. */
  onSent: (delivery: string) => void;
};

/** Sends a sample submission to the webhook. If the webhook has several events, the person chooses one. */
export function SendTest({ form, webhook, onSent }: SendTestProps): ReactElement {
  const send = useAction({
    run: (event: EventKind) =>
      callOperation(form.workspace_id, 'testWebhook', {
        params: { id: webhook.id },
        body: { event },
      }),
    problem: 'toast',
    onDone: ({ id }) => onSent(id),
  });
  const subscribed = eventChoices.filter(({ id }) => webhook.events.includes(id));
  const [first, ...others] = subscribed;
  if (first && others.length === 0)
    return (
      <Button icon="send" {...send.press(first.id)}>
        Send test
      </Button>
    );
  return (
    <Menu
      items={subscribed.map(({ id, label, description }) => ({
        id,
        label,
        description,
        onAction: () => send.start(id),
      }))}
    >
      <Button icon="send" isPending={send.isPending}>
        Send test
      </Button>
    </Menu>
  );
}

type Props = {
  form: WebhookOwner;
  webhook: Webhook;
  rules: WebhookRules;
  /** Runs before the lists are refreshed. On the webhook's own page, it navigates away. */
  onDeleted?: () => void;
};

/** The menu of a webhook: edit, receiver code, tests, pause or resume, and delete. */
export function WebhookActions({ form, webhook, rules, onDeleted }: Props): ReactElement {
  const [open, setOpen] = useState<'edit' | 'payload' | 'submissions' | 'replay'>();
  // The time of the first failure, for the replay that is offered after resuming.
  const [failedFrom, setFailedFrom] = useState<string | null>(null);
  const close = (): void => setOpen(undefined);
  const place = { params: { id: webhook.id } };
  const setActive = useAction({
    run: (active: boolean) =>
      callOperation(form.workspace_id, 'changeWebhook', { ...place, body: { active } }, { seen: webhook }),
    again: (active) => ({
      title: `${pauseButtonLabel(active)} this webhook anyway?`,
      label: pauseButtonLabel(active),
    }),
    done: (_, active) => (active ? 'The webhook was resumed.' : 'The webhook was paused.'),
    onDone(_, active) {
      // Events that happened during an automatic pause were logged as failed.
      if (!active || webhook.paused_by !== 'failure') return;
      setFailedFrom(webhook.failing_since ?? webhook.paused_at);
      setOpen('replay');
    },
  });
  const remove = useAction({
    run: () => callOperation(form.workspace_id, 'deleteWebhook', place, { seen: webhook }),
    confirm: {
      title: 'Delete this webhook?',
      label: 'Delete webhook',
      text: (
        <>
          No events will be sent to <strong>{hostOf(webhook.url)}</strong> any longer. The webhook’s delivery
          log is deleted
          {webhook.day.retrying > 0 &&
            `, and ${formatCount(webhook.day.retrying, 'waiting delivery is', 'waiting deliveries are')} dropped`}
          . To stop deliveries temporarily, pause the webhook instead.
        </>
      ),
    },
    onLeave: onDeleted,
    done: 'The webhook was deleted.',
  });
  return (
    <>
      <Menu
        items={[
          { id: 'edit', label: 'Edit', icon: 'edit', onAction: () => setOpen('edit') },
          {
            id: 'payload',
            label: 'Write a receiver',
            icon: 'file',
            description: 'Code, sample data, JSON Schema and TypeScript type',
            onAction: () => setOpen('payload'),
          },
          {
            id: 'submissions',
            label: 'Test with real submissions',
            icon: 'send',
            description: 'The latest ones, sent to another URL',
            onAction: () => setOpen('submissions'),
          },
          webhook.active
            ? {
                id: 'pause',
                label: 'Pause',
                icon: 'pause',
                description: 'Events during the pause are never sent',
                onAction: () => setActive.start(false),
              }
            : {
                id: 'resume',
                label: 'Resume',
                icon: 'play',
                description: 'New events are sent',
                onAction: () => setActive.start(true),
              },
          { id: 'line', separator: true },
          { id: 'delete', label: 'Delete', icon: 'remove', isDanger: true, onAction: () => remove.start() },
        ]}
      >
        <IconButton icon="more" label={`Actions for ${hostOf(webhook.url)}`} />
      </Menu>
      {setActive.dialog}
      {remove.dialog}
      {open === 'edit' && <WebhookDialog form={form} webhook={webhook} rules={rules} onClose={close} />}
      {open === 'payload' && <PayloadDialog form={form} webhook={webhook} onClose={close} />}
      {open === 'submissions' && <SubmissionTestDialog form={form} webhook={webhook} onClose={close} />}
      {open === 'replay' && (
        <ReplayDialog
          form={form}
          webhook={webhook}
          draft={failedFrom === null ? {} : { from: localDayOf(new Date(failedFrom)) }}
          reason="The webhook is active again. Send the failed deliveries again?"
          onClose={close}
        />
      )}
    </>
  );
}

const pauseButtonLabel = (active: boolean): string => (active ? 'Resume' : 'Pause');
