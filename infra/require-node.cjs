'use strict';

// Loaded before everything that is TypeScript: says in a sentence what is missing, where another Node would fail on the first
// line, and Node without the packages on the first import. Written for any Node, old ones included.

var fs = require('fs');
var path = require('path');

/** What Lambda runs too, and `npm ci` installs. */
var NEEDED_NODE = 24;

function missing() {
  var command = process.env.npm_config_ignore_scripts === 'true' ? 'npm ci --ignore-scripts=false' : 'npm ci';
  if (parseInt(process.versions.node, 10) < NEEDED_NODE) {
    return (
      'Node ' +
      NEEDED_NODE +
      ' or newer is needed, and this is Node ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '): run ' +
      command +
      ', which installs it for this project, and start again through npm.'
    );
  }
  var manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
  var names = Object.keys(Object.assign({}, manifest.dependencies, manifest.devDependencies));
  var absent = names.filter(function (name) {
    return !module.paths.some(function (folder) {
      return fs.existsSync(path.join(folder, name));
    });
  });
  if (absent.length === 0) return undefined;
  return 'Packages are not installed (' + listed(absent) + '): run ' + command + ', and start again.';
}

function listed(names) {
  var first = names.slice(0, 3).join(', ');
  return names.length > 3 ? first + ' and ' + (names.length - 3) + ' more' : first;
}

var message = missing();
if (message !== undefined) {
  console.error(message);
  process.exit(1);
}
