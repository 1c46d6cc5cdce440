-- How often an address that a visitor entered is written to is bounded in whatever case it was entered.

drop index mails_to_recipient;
create index mails_to_recipient on mails (workspace_id, lower(recipient), created_at);
