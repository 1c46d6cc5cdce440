import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { signBody } from '#webhooks/signature.ts';
import { snippets } from './snippets.ts';

const folder = mkdtempSync(join(tmpdir(), 'formloom-snippets-'));
after(() => rmSync(folder, { recursive: true }));

const secret = 'whsec_a secret with ünïcode';
const body = '{"event":"submission.created","name":"Ada 👋"}';
const signature = signBody(secret, body);

/** What a receiver may be sent, and whether it is from us. */
const cases: readonly { what: string; body: string; header: string | null; isOurs: boolean }[] = [
  { what: 'the signature of the body', body, header: signature, isOurs: true },
  { what: 'another body', body: `${body} `, header: signature, isOurs: false },
  { what: 'no header', body, header: null, isOurs: false },
  { what: 'no prefix', body, header: signature.slice('sha256='.length), isOurs: false },
  { what: 'another secret', body, header: signBody('whsec_another', body), isOurs: false },
  { what: 'a header that is not ASCII', body, header: `${signature.slice(0, -1)}é`, isOurs: false },
];

type Runner = {
  file: string;
  /** Reads the cases as JSON from its first argument and prints the list of verdicts. */
  main: string;
  command: string;
  args: (path: string) => string[];
};

const runners: Readonly<Record<'node' | 'python' | 'php' | 'go', Runner>> = {
  node: {
    file: 'verify.mjs',
    main: `
const { cases, secret } = JSON.parse(process.argv[2]);
console.log(JSON.stringify(cases.map((c) => isFromFormloom(Buffer.from(c.body), c.header ?? undefined, secret))));`,
    command: process.execPath,
    args: (path) => [path],
  },
  python: {
    file: 'verify.py',
    main: `

import json, sys
given = json.loads(sys.argv[1])
print(json.dumps([is_from_formloom(c["body"].encode(), c["header"], given["secret"]) for c in given["cases"]]))
`,
    command: 'python3',
    args: (path) => [path],
  },
  php: {
    file: 'verify.php',
    main: `
$given = json_decode($argv[1], true);
echo json_encode(array_map(fn ($c) => isFromFormloom($c['body'], $c['header'], $given['secret']), $given['cases']));`,
    command: 'php',
    args: (path) => [path],
  },
  go: {
    file: 'verify.go',
    main: `

func main() {
	var given struct {
		Secret string
		Cases  []struct {
			Body   string
			Header *string
		}
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, c := range given.Cases {
		header := ""
		if c.Header != nil {
			header = *c.Header
		}
		verdicts = append(verdicts, IsFromFormloom([]byte(c.Body), header, given.Secret))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`,
    command: 'go',
    args: (path) => ['run', path],
  },
};

const isInstalled = (command: string): boolean => {
  try {
    execFileSync(command, [command === 'go' ? 'version' : '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

for (const { id, label, code } of snippets) {
  const { file, main, command, args } = runners[id];
  const skip = isInstalled(command) ? false : `${command} is not on this machine`;
  test(`the ${label} snippet verifies what the service signs, and nothing else`, { skip }, () => {
    const path = join(folder, file);
    const asProgram = code
      .replace('package webhook', 'package main')
      .replace('"encoding/hex"', '"encoding/hex"\n\t"encoding/json"\n\t"os"');
    writeFileSync(path, (id === 'go' ? asProgram : code) + main);
    const given = JSON.stringify({ cases, secret });
    const verdicts = JSON.parse(
      execFileSync(command, [...args(path), given], { encoding: 'utf8' }),
    ) as boolean[];
    assert.deepEqual(
      cases.map(({ what }, index) => [what, verdicts[index]]),
      cases.map(({ what, isOurs }) => [what, isOurs]),
    );
  });
}

test('every snippet names what it verifies', () => {
  for (const { label, code } of snippets) assert.match(code, /sha256=/, label);
});
