import { type ReactElement, useState } from 'react';
import { sayCount } from '#ast/basics/say-count.ts';
import { hostOf } from '#rules/url-problem.ts';
import type { Webhook } from '#webhooks/shapes.ts';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { dayOf } from '../../design/day.ts';
import { Menu } from '../../design/menu.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { WebhookDialog } from '../edit/webhook-dialog.tsx';
import { type EventKind, eventChoices } from '../events.ts';
import { ReplayDialog } from '../replay.tsx';
import type { WebhookRules } from '../webhooks-query.ts';
import { PayloadDialog, SubmissionTestDialog } from '../workbench.tsx';

type SendTestProps = {
  form: LocatedForm;
  webhook: Webhook;
  /** Where its outcome will be seen. */
  onSent: (delivery: string) => void;
};

/** Sends a sample of this form to the webhook; it asks for the event when the webhook hears of several. */
export function SendTest({ form, webhook, onSent }: SendTestProps): ReactElement {
  const send = useAction({
    run: (event: EventKind) =>
      call(form.workspace_id, 'testWebhook', { params: { id: webhook.id }, body: { event } }),
    problem: 'toast',
    onDone: ({ id }) => onSent(id),
  });
  const heard = eventChoices.filter(({ id }) => webhook.events.includes(id));
  const [first, ...others] = heard;
  if (first && others.length === 0) {
    return (
      <Button icon="send" {...send.press(first.id)}>
        Send test
      </Button>
    );
  }
  return (
    <Menu
      items={heard.map(({ id, label, description }) => ({
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
  form: LocatedForm;
  webhook: Webhook;
  rules: WebhookRules;
  /** Before the lists forget it; on its own page, leads away from there. */
  onDeleted?: () => void;
};

/** What an editor can do with a webhook: edit, pause or resume, delete. */
export function WebhookActions({ form, webhook, rules, onDeleted }: Props): ReactElement {
  const [open, setOpen] = useState<'edit' | 'payload' | 'submissions' | 'replay'>();
  // Since when deliveries failed, for what is sent again after it was resumed.
  const [failedFrom, setFailedFrom] = useState<string | null>(null);
  const close = (): void => setOpen(undefined);
  const place = { params: { id: webhook.id } };
  const setActive = useAction({
    run: (active: boolean) =>
      call(form.workspace_id, 'changeWebhook', { ...place, body: { active } }, { seen: webhook }),
    again: (active) => ({
      title: `${sayActive(active)} this webhook all the same?`,
      label: sayActive(active),
    }),
    done: (_, active) => (active ? 'The webhook is active again.' : 'The webhook is paused.'),
    onDone(_, active) {
      // What happened while it was paused by itself is written down as failed.
      if (!active || webhook.paused_by !== 'failure') return;
      setFailedFrom(webhook.failing_since ?? webhook.paused_at);
      setOpen('replay');
    },
  });
  const remove = useAction({
    run: () => call(form.workspace_id, 'deleteWebhook', place, { seen: webhook }),
    confirm: {
      title: 'Delete this webhook?',
      label: 'Delete webhook',
      text: (
        <>
          Nothing is sent to <strong>{hostOf(webhook.url)}</strong> any more, its delivery log is deleted
          {webhook.day.retrying > 0 &&
            `, and ${sayCount(webhook.day.retrying, 'waiting delivery is', 'waiting deliveries are')} dropped`}
          . To stop for a while, pause it instead.
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
            description: 'Code, sample, JSON Schema and type',
            onAction: () => setOpen('payload'),
          },
          {
            id: 'submissions',
            label: 'Test with real submissions',
            icon: 'send',
            description: 'The last ones, to another address',
            onAction: () => setOpen('submissions'),
          },
          webhook.active
            ? {
                id: 'pause',
                label: 'Pause',
                icon: 'pause',
                description: 'Events are not sent, not even later',
                onAction: () => setActive.start(false),
              }
            : {
                id: 'resume',
                label: 'Resume',
                icon: 'play',
                description: 'Events from now on are sent',
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
          draft={failedFrom === null ? {} : { from: dayOf(new Date(failedFrom)) }}
          reason="The webhook is active again. Send what failed meanwhile, as the same deliveries?"
          onClose={close}
        />
      )}
    </>
  );
}

const sayActive = (active: boolean): string => (active ? 'Resume' : 'Pause');
