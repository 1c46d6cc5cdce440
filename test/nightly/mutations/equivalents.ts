/**
 * A mutant that behaves like the original, for a reason that no test can show. `of` is a part of its SQL
 * statement if other statements of the source have the same condition.
 */
export type Equivalent = { what: string; of?: string; why: string };

/**
 * By source: the description of the mutant in `mutants.ts` without its line, and why it changes nothing. A
 * run of all rooms reports entries that match no mutant.
 */
export const equivalents: Readonly<Record<string, readonly Equivalent[]>> = {
  'src/ast/answers/fill.ts': [
    {
      what: "only the right of &&: kindOf(input) === 'files' && isBlank(value)",
      why: 'a file under the name of another question is refused by name all the same (findUnknownFields)',
    },
  ],
  'src/ast/form/fields.ts': [
    {
      what: 'only the left of &&: group && index',
      why: 'a name that fits the pattern has all of its parts, and another has none',
    },
    {
      what: 'only the right of &&: name.startsWith(`${otherChoice}[`) && !isBlank(text)',
      why: 'whose name is not that of another answer is left aside all the same (readOther)',
    },
  ],
  'src/ast/logic/check-condition.ts': [
    {
      what: 'only the right of &&: isRecord(filter) && jsonStorageProblem(filter, { values: 0, markup: 0 })',
      why: 'what has no fault as a condition is an object; the types do not know it',
    },
    {
      what: 'without: if (piped.length === 0) return;',
      why: 'of no text that shows an answer there is nothing to say',
    },
    {
      what: "only the left of &&: typeof value === 'string' && value.includes('{{')",
      why: 'a text without braces shows no answer: it is only looked at once more',
    },
  ],
  'src/ast/logic/cycles.ts': [
    {
      what: 'without: if (!elements.some(({ attrs }) => attrs.formula !== undefined || conditionsOf(attrs).length > 0)) return;',
      why: 'without conditions and formulas there is no circle: it is only found sooner',
    },
  ],
  'src/ast/logic/compare.ts': [
    {
      what: "only the left of ||: input || typeof answer !== 'string'",
      why: 'what is compared without an input is a reference value, which is a text',
    },
  ],
  'src/ast/logic/evaluate.ts': [
    {
      what: 'without: if (!index.hasLogic) { const calculated = (): undefined => undefined; const isAlways = (): boolean => true;…',
      why: 'without conditions the long way says the same',
    },
    {
      what: 'only the right of &&: place.group && row?.index',
      why: 'what stands outside of rows is found out once for each, and is the same',
    },
  ],
  'src/ast/form/form-index.ts': [
    {
      what: 'only the left of &&: isInput(node) && node.attrs.require_when !== undefined',
      why: 'a form without conditions goes the long way, which says the same',
    },
  ],
  'src/ast/form/conditional-options.ts': [
    {
      what: 'without: if (!hasConditionalOptions(input)) return answer;',
      why: 'an option without a condition is always offered',
    },
    {
      what: 'without: if (!hasConditionalOptions(input)) return undefined;',
      why: 'an option without a condition is never withdrawn',
    },
  ],
  'src/ast/form/piping.ts': [
    {
      what: 'without: if (!isPiped(form)) return form;',
      why: 'a label that shows no answer is said as it is',
    },
  ],
  'src/ast/rules/moments.ts': [
    {
      what: 'without: if (known !== undefined) return known;',
      why: 'it is remembered, and made again the same',
    },
  ],
  'src/ast/rules/pattern.ts': [
    {
      what: "without: if (text !== '.' && !text.startsWith('\\\\') && !text.startsWith('[')) { return character === text; }",
      why: 'a class of the character itself says the same, and takes longer',
    },
    {
      what: 'without: if (known) return known.test(character);',
      why: 'it is remembered, and made again the same',
    },
    {
      what: 'without: if (classes.size >= keptClasses) classes.delete(classes.keys().next().value!);',
      why: 'it bounds what is remembered, which no answer tells',
    },
    {
      what: 'without: if (waits === 0 && at < text.length) return false;',
      why: 'where nothing waits, nothing is reached any more: it only ends sooner',
    },
  ],
  'src/ast/rules/today.ts': [
    { what: 'without: if (known) return known;', why: 'it is remembered, and made again the same' },
    {
      what: "without: if (timeZone === 'UTC') return now.toISOString().slice(0, 10);",
      why: 'the formatter says the same of UTC, and takes longer',
    },
  ],
  'src/ast/basics/text.ts': [
    {
      what: 'without: if (text.length > max) return false;',
      why: 'UTF-8 has at least a byte for each unit: counting says the same, and takes longer',
    },
    {
      what: 'only the right of ||: text.length * 3 <= max || byteLength(text) <= max',
      why: 'UTF-8 has at most three bytes for each unit: counting says the same, and takes longer',
    },
    {
      what: 'without: if (fitsBytes(text, max)) return text;',
      why: 'a text that fits is cut where it ends',
    },
  ],
  'src/ast/basics/csv.ts': [
    {
      what: 'only the left of &&: !isQuoted && counts.has(character)',
      why: 'what is counted besides has no number, and comes before no separator',
    },
    {
      what: 'only the right of &&: !plainStart.test(text) && (formulaStart.test(text) || text.startsWith("\'"))',
      why: 'what begins with a letter or a digit is no formula: it is only told sooner',
    },
  ],
  'src/ast/basics/json.ts': [
    {
      what: 'only the left of &&: next && !problem',
      why: 'it only ends sooner: one fault is enough',
    },
  ],
  'src/ast/settings-by-condition.ts': [
    {
      what: "only the right of &&: protocol === 'http:' && ownMachine.has(hostname)",
      why: 'the origin of any other protocol is none (isOrigin)',
    },
    {
      what: "only the left of &&: kind === 'input' && kindOf(element) === 'files'",
      why: 'conditions look for the files of uploads alone',
    },
  ],
  'src/ast/rules/check-rules.ts': [
    {
      what: 'without: if (least === undefined && most === undefined) return undefined;',
      why: 'a text without limits is only counted in vain',
    },
  ],
  'src/ast/searchable.ts': [
    {
      what: "without: if (addressed === '') return texts.join('\\n');",
      why: 'where nothing has an @, no domain is found',
    },
  ],
  'src/ast/search.ts': [
    {
      what: 'without: if (!anySign.test(text)) return { parts: Array.from(text.matchAll(/\\S+/g), wordOf), problems: [] };',
      why: 'words alone are read as the same by the pattern of all else, which takes longer',
    },
  ],
  'src/ast/theme/check-theme.ts': [
    {
      what: 'only the right of &&: next > 0 && next < 1',
      why: 'a paper of the hue is found before it is black',
    },
    {
      what: 'only the left of &&: next > 0 && next < 1',
      why: 'a paper of the hue is found before it is white',
    },
  ],
  'src/ast/theme/colour.ts': [
    {
      what: 'without: if (isShown(whole)) return writeHex(whole);',
      why: 'halving comes to the same but for a 4000th of the chroma, and takes longer',
    },
  ],
  'src/ast/rules/range-problem.ts': [
    {
      what: "only the left of &&: isText && !least.startsWith('today') && !most.startsWith('today')",
      why: 'a day of the calendar sorts before the word today',
    },
  ],
  'src/ast/translations/check-translations.ts': [
    {
      what: "only the left of &&: isConfirmationText(name) && typeof text === 'string'",
      why: 'what is stored under these names is text; the types do not know it',
    },
  ],
  'src/page/visit/screening.ts': [
    {
      what: 'only the right of &&: otherOrigin(request, config.publicUrl) && (await findForm(liveForms, request))',
      why: 'what comes from our own page is judged all the same, by one look-up more',
    },
    {
      what: "only the right of ||: live.status !== 'draft' || live.wasPublished",
      why: 'what is no draft was published',
    },
  ],
  'src/app/checks/delivery-checks.ts': [
    { what: 'whether or not: failing_since is not null', why: 'nothing is later than a time that is null' },
    {
      what: 'whether or not: deliveries.workspace_id = webhooks.workspace_id',
      why: 'the id of a webhook is of one workspace only; the index begins with the workspace, and the statement is of all',
    },
  ],
  'src/workspaces/audit/audit-log.ts': [
    {
      what: 'without: if (ended.length === 0) return;',
      why: 'the statement changes nothing that is given no lines; it is one less every quarter of a second',
    },
  ],
  'src/workspaces/audit/audit-entries.ts': [
    {
      what: 'whether or not: user_id = u.id',
      why: 'every line is somebody’s, and goes by its age whosoever it is; the index begins with whose',
    },
    {
      what: 'whether or not: given.status >= 400',
      why: 'the same statement writes the others first, and changes no row twice',
    },
  ],
  'src/workspaces/authenticate.ts': [
    {
      what: 'without: if (asked.size >= rememberedKeys) asked.delete(asked.keys().next().value!);',
      why: 'it bounds what is remembered, which no answer tells',
    },
  ],
  'src/workspaces/sign-in/identity-provider.ts': [
    {
      what: "without: if (claims['email'] !== undefined) return claims;",
      why: 'who is asked once more says the same, and what the ID token says goes before it',
    },
    {
      what: 'without: if (found?.is_linked) return found;',
      why: 'who is linked is confirmed, and an identity that is there is not written again: it is one statement less',
    },
    {
      what: "without: if (added.length > 0) await reportNews(client, workspaceId, { kind: 'member_added', userId });",
      why: 'news of a workspace that is gone finds nobody to tell',
    },
  ],
  'src/workspaces/api-key.ts': [
    {
      what: 'whether or not: l.workspace_id = key.workspace_id',
      of: 'ended as (',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'whether or not: l.workspace_id = k.workspace_id',
      of: 'ended as (',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'whether or not: l.api_key_id = k.id',
      of: 'ended as (',
      why: 'of what ended nobody gets in, whosever it was, and it goes',
    },
    {
      what: 'whether or not: l.expires_at <= $now',
      of: 'ended as (',
      why: 'what still lets somebody in is changed by the same statement first, which changes no row twice; nothing promises that order',
    },
  ],
  'src/workspaces/members.ts': [
    {
      what: 'whether or not: id = $workspace_id',
      of: 'for no key update',
      why: 'other workspaces take turns too, and what is done in each is the same',
    },
  ],
  'src/workspaces/sign-in/sign-in.ts': [
    {
      what: 'whether or not: temporary_until is not null',
      why: 'what is null already stays so: a person is not written for nothing',
    },
    {
      what: 'whether or not: password is not null',
      of: 'select password from accounts where user_id =',
      why: 'an account of this kind is made with its password, and none loses it',
    },
    {
      what: 'whether or not: user_id = $user_id',
      of: 'workspaces.replace_hash',
      why: 'a hash has a salt of its own, and so is one person’s',
    },
  ],
  'src/workspaces/request-counter.ts': [
    {
      what: "without: if (isAway) log.info('Valkey is available again; rate limits are counted there');",
      why: 'what it says is for the log alone',
    },
  ],
  'src/workspaces/request-log.ts': [
    {
      what: 'whether or not: workspace_id = any',
      why: 'more keys are held, and the join takes those that are given',
    },
    { what: 'whether or not: id = any', why: 'more keys are held, and the join takes those that are given' },
    {
      what: 'whether or not: k.workspace_id = given.workspace_id',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'whether or not: d.workspace_id = given.workspace_id',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'whether or not: l.workspace_id = given.workspace_id',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'whether or not: r.workspace_id = old.workspace_id',
      why: 'the id of a key is of one workspace; the index begins with it',
    },
    {
      what: 'without: if (waiting.size === 0) return;',
      why: 'statements that are given no keys change nothing; it is three less every second',
    },
    {
      what: 'without: if (waiting.requests.length > keptRequests) waiting.requests.shift();',
      why: 'it bounds what waits in memory, which no answer tells; the table is trimmed to as many',
    },
  ],
  'src/workspaces/accounts/users.ts': [
    {
      what: 'whether or not: id = $user_id',
      of: 'for no key update',
      why: 'others take turns too, and what each does is the same',
    },
    {
      what: 'whether or not: user_id = $user_id',
      of: 'and hash = any(',
      why: 'a hash holds whose it is',
    },
    {
      what: 'whether or not: user_id = $user_id',
      of: ', last_used_at =',
      why: 'the id of a passkey is of one person; the index begins with whose',
    },
  ],
  'src/app/checks/watch.ts': [
    {
      what: 'without: if (reported.length > 0) context.wakeQueue();',
      why: 'the queue looks by itself as well, some seconds later',
    },
  ],
};
