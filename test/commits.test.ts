import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const { status, stdout } = spawnSync('git', ['log', '--no-merges', '-n', '30', '--format=%h %s'], {
  cwd: home,
  encoding: 'utf8',
});

/**
 * Matches titles that begin with an article, a pronoun, a question word, a number or the past tense, not with
 * a verb.
 */
const notImperative =
  /^(a|an|the|this|that|these|those|it|its|they|we|what|which|who|whether|where|when|while|if|no|not|nothing|one|two|three|four|five|six|ten|of|on|in|at|by|for|from|and|also|now|some|all|each|every)$|[a-z]{3,}(ed|ing)$/i;

test('the last 30 commits have imperative titles of at most 72 characters', {
  skip: status !== 0 && 'no repository: this is a release',
}, () => {
  const titles = stdout.trimEnd().split('\n');
  const found = titles.filter((line) => {
    const title = line.slice(line.indexOf(' ') + 1);
    return title.length > 72 || !/^[A-Z]/.test(title) || notImperative.test(title.split(' ')[0]!);
  });
  assert.deepEqual(found, []);
});
