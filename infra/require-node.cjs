'use strict';

// Loaded before everything that is TypeScript: says in a sentence what is missing, where another Node would fail on the first
// line, and Node without the packages on the first import. Written for any Node, old ones included.

var fs = require('fs');
var path = require('path');

/** What Lambda runs too, and `npm ci` installs. */
var NEEDED_NODE = 24;

var command = process.env.npm_config_ignore_scripts === 'true' ? 'npm ci --ignore-scripts=false' : 'npm ci';
var node = process.versions.node;
if (parseInt(node, 10) < NEEDED_NODE) {
  fail(
    'Node ' + NEEDED_NODE + ' or newer is needed, and this is Node ' + node + ' (' + process.execPath + ')',
  );
}

var manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
var absent = Object.keys(Object.assign({}, manifest.dependencies, manifest.devDependencies)).filter(isAbsent);
if (absent.length > 0) fail('Packages are not installed (' + absent.slice(0, 3).join(', ') + ' …)');

// Compiled code is kept, which saves a third of a start. Where nothing can be written, Node compiles each time.
require('module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'compiled'));

function isAbsent(name) {
  return !module.paths.some(function (folder) {
    return fs.existsSync(path.join(folder, name));
  });
}

function fail(reason) {
  console.error(reason + ': run ' + command + ', and start again through npm.');
  process.exit(1);
}
