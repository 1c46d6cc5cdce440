-- Whom a provider of identities means by what it calls them belongs to one account.
create unique index accounts_of_provider on accounts (account_id) where provider_id = 'oidc';
