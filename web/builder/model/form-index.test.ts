import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeNode, walkNodes } from './edit-node.ts';
import { formatNodeAddress, nodeAtAddress } from './form-index.ts';

const heading = makeNode('heading', { text: 'About you' });
const name = makeNode('text', { id: '.name', label: 'Name' });
const first = makeNode('text', { id: 'first', label: 'First' });
const twin = makeNode('text', { id: 'first', label: 'The same id' });
const group = makeNode('group', { id: 'group' }, [first, heading]);
const root = makeNode('form', { name: 'Form' }, [
  makeNode('step', { id: 'one' }, [group]),
  makeNode('step', {}, [twin]),
]);

test('every node but the form has an address, which leads back to it', () => {
  for (const node of walkNodes(root)) {
    const address = formatNodeAddress(root, node.key);
    if (node === root) assert.equal(address, undefined);
    else assert.equal(nodeAtAddress(root, address!), node, address);
  }
  assert.equal(formatNodeAddress(root, first.key), 'first');
  assert.equal(formatNodeAddress(root, heading.key), '.1.1.2');
  assert.equal(formatNodeAddress(root, twin.key), '.2.1');
});

test('an address that names nothing finds nothing', () => {
  for (const address of ['gone', '', '.', '.9', '.1.x', '.1.1.1.1', name.key])
    assert.equal(nodeAtAddress(root, address), undefined, address);
});
