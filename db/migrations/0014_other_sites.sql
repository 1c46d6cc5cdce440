-- Answers that pages of other sites sent are held under the site that they name, so that its owner can let it in.

alter table held_submissions
  drop constraint held_submissions_reason_check,
  add constraint held_submissions_reason_check
    check (reason in ('honeypot', 'too_fast', 'no_page', 'no_proof', 'other_site')),
  add column origin text;
