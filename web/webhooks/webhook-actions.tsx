import { useMutation } from '@tanstack/react-query';
import { dayOf } from '../design/day.ts';
import { type ReactElement, useState } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { call } from '../api/operations.ts';
import { IconButton } from '../design/button.tsx';
import { AskAgain, toastUnlessAsked } from '../design/ask-again.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { Menu } from '../design/menu.tsx';
import { toastDone } from '../design/toast.tsx';
import type { LocatedForm } from '../shell/form-place.ts';
import { hostOf } from '#rules/url-problem.ts';
import { ReplayDialog } from './replay.tsx';
import { WebhookDialog } from './edit/webhook-dialog.tsx';
import { PayloadDialog } from './workbench/payload-dialog.tsx';
import { SubmissionTestDialog } from './workbench/submission-test-dialog.tsx';
import { refreshWebhooks, type WebhookRules } from './webhooks-query.ts';
import { sayCount } from '#ast/say-count.ts';

type Props = {
  form: LocatedForm;
  webhook: Webhook;
  rules: WebhookRules;
  /** Before the lists forget it; on its own page, leads away from there. */
  onDeleted?: () => void;
};

/** What an editor can do with a webhook: edit, pause or resume, delete. */
export function WebhookActions({ form, webhook, rules, onDeleted }: Props): ReactElement {
  const [open, setOpen] = useState<'edit' | 'delete' | 'payload' | 'submissions' | 'replay'>();
  // Since when deliveries failed, for what is sent again after it was resumed.
  const [failedFrom, setFailedFrom] = useState<string | null>(null);
  const close = (): void => setOpen(undefined);
  const setActive = useMutation({
    mutationFn: (active: boolean) =>
      call(
        form.workspace_id,
        'changeWebhook',
        { params: { id: webhook.id }, body: { active } },
        { seen: webhook },
      ),
    async onSuccess(_, active) {
      toastDone(active ? 'The webhook is active again.' : 'The webhook is paused.');
      // What happened while it was paused by itself is written down as failed.
      if (active && webhook.paused_by === 'failure') {
        setFailedFrom(webhook.failing_since ?? webhook.paused_at);
        setOpen('replay');
      }
      await refreshWebhooks(form);
    },
    onError: toastUnlessAsked,
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
                onAction: () => setActive.mutate(false),
              }
            : {
                id: 'resume',
                label: 'Resume',
                icon: 'play',
                description: 'Events from now on are sent',
                onAction: () => setActive.mutate(true),
              },
          { id: 'line', separator: true },
          {
            id: 'delete',
            label: 'Delete',
            icon: 'remove',
            isDanger: true,
            onAction: () => setOpen('delete'),
          },
        ]}
      >
        <IconButton icon="more" label={`Actions for ${hostOf(webhook.url)}`} />
      </Menu>
      <AskAgain
        change={setActive}
        sayTitle={(active) => `${sayActive(active)} this webhook all the same?`}
        sayAgain={sayActive}
        onAgain={setActive.mutate}
      />
      <WebhookDialog form={form} webhook={webhook} rules={rules} isOpen={open === 'edit'} onClose={close} />
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
      <DeleteWebhook
        form={form}
        webhook={webhook}
        isOpen={open === 'delete'}
        onClose={close}
        onDeleted={onDeleted}
      />
    </>
  );
}

const sayActive = (active: boolean): string => (active ? 'Resume' : 'Pause');

type DeleteProps = Pick<Props, 'form' | 'webhook'> & {
  onDeleted: (() => void) | undefined;
  isOpen: boolean;
  onClose: () => void;
};

function DeleteWebhook({ form, webhook, onDeleted, isOpen, onClose }: DeleteProps): ReactElement {
  const deletion = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'deleteWebhook', { params: { id: webhook.id } }, { seen: webhook }),
    async onSuccess() {
      toastDone('The webhook was deleted.');
      onClose();
      onDeleted?.();
      await refreshWebhooks(form);
    },
  });
  return (
    <ConfirmChange
      title="Delete this webhook?"
      isOpen={isOpen}
      onClose={onClose}
      confirmLabel="Delete webhook"
      change={deletion}
    >
      Nothing is sent to <strong>{hostOf(webhook.url)}</strong> any more, its delivery log is deleted
      {webhook.day.retrying > 0 &&
        `, and ${sayCount(webhook.day.retrying, 'waiting delivery is', 'waiting deliveries are')} dropped`}
      . To stop for a while, pause it instead.
    </ConfirmChange>
  );
}
