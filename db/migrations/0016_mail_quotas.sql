-- What has left lately, to an address from the whole instance, and from a workspace: mails beyond their limits are put off.
create index mails_sent_to on mails (lower(recipient), settled_at) where state = 'sent';
create index mails_sent_from on mails (workspace_id, settled_at) where state = 'sent';
