"""Accounts, corpora, collections and their seeds: the tables as of November 2026."""

import collector.models.collection
import collector.models.corpus
import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.db import migrations, models

from common.initial_migration import InitialMigration


class Migration(InitialMigration):

    replaces = [('collector', '0001_user'), ('collector', '0002_corpus'), ('collector', '0003_collection'), ('collector', '0004_revision_why'), ('collector', '0005_collection_without_owner'), ('collector', '0006_article_infoboxes'), ('collector', '0007_subcategories'), ('collector', '0008_link_graph'), ('collector', '0009_candidate_sets'), ('collector', '0010_mend_short_names'), ('collector', '0011_short_names_are_names'), ('collector', '0012_maximum_total'), ('collector', '0013_archive_and_dropped_seeds'), ('collector', '0014_rename_random_seed'), ('collector', '0015_sign_in_tries'), ('collector', '0016_books'), ('collector', '0017_seed_stage'), ('collector', '0018_seed_stage_required'), ('collector', '0019_rename_maintained_until'), ('collector', '0020_collection_look_at'), ('collector', '0021_book_table_rows'), ('collector', '0022_documents'), ('collector', '0023_form_keys'), ('collector', '0024_collection_looked_at_for'), ('collector', '0025_known_protocols'), ('collector', '0026_document_left_out'), ('collector', '0027_upload_is_long_work')]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Corpus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', collector.models.corpus.NameField(max_length=80, unique=True, verbose_name='short name')),
                ('name', models.CharField(max_length=200)),
                ('kind', models.CharField(choices=[('wiki', 'Wiki dump'), ('books', 'Books'), ('documents', 'Documents'), ('imported', 'Passages of published files')], default='wiki', max_length=20)),
                ('language', models.CharField(max_length=35)),
                ('direction', models.CharField(choices=[('ltr', 'Left to right'), ('rtl', 'Right to left')], default='ltr', max_length=3)),
                ('site_name', models.CharField(blank=True, max_length=200)),
                ('base_url', models.CharField(blank=True, max_length=500)),
                ('licence_name', models.CharField(blank=True, max_length=100)),
                ('licence_url', models.CharField(blank=True, max_length=500)),
                ('source', models.TextField(blank=True)),
                ('state', models.CharField(choices=[('ingesting', 'Being read'), ('ready', 'Ready'), ('failed', 'Reading stopped')], default='ingesting', max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('counts', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'verbose_name_plural': 'corpora',
                'constraints': [models.CheckConstraint(condition=models.Q(('slug__regex', '\\A(?!new\\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\\Z')), name='corpus_slug_is_a_name'), models.CheckConstraint(condition=models.Q(('state__in', ['ingesting', 'ready', 'failed'])), name='corpus_state_is_known'), models.CheckConstraint(condition=models.Q(('direction__in', ['ltr', 'rtl'])), name='corpus_direction_is_known')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='KnownProtocols',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('process', models.CharField(max_length=200, unique=True)),
                ('names', models.JSONField()),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['process'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
                'indexes': [],
                'constraints': [],
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='SignInTries',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('full_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'abstract': False,
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='DumpFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='dump_files', to='collector.corpus')),
                ('name', models.CharField(max_length=255)),
                ('size_bytes', models.BigIntegerField()),
                ('head_sha256', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('reading', 'Being read'), ('done', 'Read to its end'), ('failed', 'Stopped')], default='reading', max_length=20)),
                ('error', models.TextField(blank=True)),
                ('pages_done', models.BigIntegerField(default=0)),
                ('counts', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('corpus', 'name'), name='dump_file_name_once'), models.CheckConstraint(condition=models.Q(('state__in', ['reading', 'done', 'failed'])), name='dump_file_state_is_known')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='LinkGraph',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='link_graph', to='collector.corpus')),
                ('layout', models.PositiveIntegerField()),
                ('corpus_version', models.CharField(max_length=64)),
                ('sha256', models.CharField(max_length=64)),
                ('size_bytes', models.BigIntegerField()),
                ('n_nodes', models.BigIntegerField()),
                ('n_edges', models.BigIntegerField()),
                ('seconds', models.FloatField()),
                ('built_at', models.DateTimeField()),
            ],
            options={
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='Article',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='articles', to='collector.corpus')),
                ('page_id', models.BigIntegerField()),
                ('title', models.CharField(max_length=300)),
                ('kind', models.CharField(choices=[('article', 'Article'), ('redirect', 'Redirect'), ('disambiguation', 'Disambiguation page')], default='article', max_length=20)),
                ('redirect_target', models.CharField(blank=True, max_length=300)),
                ('revision_id', models.BigIntegerField()),
                ('revision_timestamp', models.DateTimeField(null=True)),
                ('is_list', models.BooleanField(default=False)),
                ('infoboxes', models.JSONField(blank=True, default=list)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('corpus', 'title'), name='article_title_once'), models.UniqueConstraint(fields=('corpus', 'page_id'), name='article_page_id_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['article', 'redirect', 'disambiguation'])), name='article_kind_is_known'), models.CheckConstraint(condition=models.Q(('kind', 'redirect'), ('redirect_target', ''), _connector='XOR'), name='article_redirect_has_a_target')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='collector.corpus')),
                ('title', models.CharField(max_length=300)),
            ],
            options={
                'verbose_name_plural': 'categories',
                'constraints': [models.UniqueConstraint(fields=('corpus', 'title'), name='category_title_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', collector.models.corpus.NameField(max_length=80, unique=True, verbose_name='short name')),
                ('title', models.CharField(max_length=200)),
                ('protocol', models.CharField(max_length=80)),
                ('protocol_version', models.PositiveIntegerField()),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='collections', to='collector.corpus')),
                ('parameters', models.JSONField()),
                ('random_seed', models.BigIntegerField()),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('collecting', 'Collecting'), ('paused', 'Paused'), ('finished', 'Finished')], default='draft', max_length=20)),
                ('requester_name', models.CharField(max_length=200)),
                ('requester_contact', models.CharField(blank=True, max_length=200)),
                ('ethics_number', models.CharField(blank=True, max_length=120)),
                ('budget_cents', models.PositiveBigIntegerField(default=0)),
                ('reserved_cents', models.BigIntegerField(default=0)),
                ('spent_cents', models.BigIntegerField(default=0)),
                ('maximum_cents', models.PositiveBigIntegerField(blank=True, null=True)),
                ('maximum_for', models.CharField(blank=True, max_length=80)),
                ('pseudonym_key', models.CharField(default=collector.models.collection.new_pseudonym_key, max_length=64)),
                ('created_at', models.DateTimeField()),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('maintained_until', models.DateTimeField(blank=True, null=True)),
                ('look_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('looked_at_for', models.CharField(blank=True, max_length=64)),
                ('form_key', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('slug__regex', '\\A(?!new\\Z)[A-Za-z0-9][A-Za-z0-9_-]{0,79}\\Z')), name='collection_slug_is_a_name'), models.CheckConstraint(condition=models.Q(('reserved_cents__gte', 0), ('spent_cents__gte', 0)), name='collection_money_is_never_negative'), models.CheckConstraint(condition=models.Q(('budget_cents__gte', django.db.models.expressions.CombinedExpression(models.F('reserved_cents'), '+', models.F('spent_cents')))), name='collection_stays_within_its_budget'), models.CheckConstraint(condition=models.Q(('archived_at__isnull', True), ('state__in', ['draft', 'finished']), _connector='OR'), name='collection_archived_at_rest'), models.CheckConstraint(condition=models.Q(('maximum_cents__isnull', True), ('maximum_cents__gte', django.db.models.expressions.CombinedExpression(models.F('reserved_cents'), '+', models.F('spent_cents'))), _connector='OR'), name='collection_stays_within_its_maximum'), models.UniqueConstraint(condition=models.Q(('form_key', ''), _negated=True), fields=('form_key',), name='collection_once_a_form')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='DocumentUpload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'Waiting to begin'), ('running', 'Under way'), ('done', 'Done'), ('failed', 'Not done'), ('stopped', 'Stopped')], default='waiting', max_length=20)),
                ('step', models.CharField(blank=True, max_length=120)),
                ('share_done', models.FloatField(default=0)),
                ('message', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim', models.CharField(blank=True, max_length=32)),
                ('claimed_by', models.CharField(blank=True, max_length=200)),
                ('free_at', models.DateTimeField(blank=True, null=True)),
                ('by', models.CharField(blank=True, max_length=150)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('slug', models.CharField(max_length=80)),
                ('corpus', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='collector.corpus')),
                ('name', models.CharField(blank=True, max_length=200)),
                ('language', models.CharField(blank=True, max_length=35)),
                ('licence', models.CharField(blank=True, max_length=100)),
                ('licence_url', models.CharField(blank=True, max_length=500)),
                ('folder', models.CharField(max_length=300)),
                ('n_files', models.PositiveIntegerField(null=True)),
                ('outcome', models.JSONField(blank=True, default=dict)),
                ('form_key', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ['-asked_at', '-id'],
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'running', 'done', 'failed', 'stopped'])), name='documentupload_state_is_known'), models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running'))), fields=('slug',), name='upload_one_at_a_time'), models.UniqueConstraint(condition=models.Q(models.Q(('form_key', ''), _negated=True), models.Q(('state', 'failed'), _negated=True)), fields=('form_key',), name='upload_once_a_form')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='SkippedPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dump_file', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skipped_pages', to='collector.dumpfile')),
                ('title', models.CharField(max_length=300)),
                ('reason', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='Section',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('article', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sections', to='collector.article')),
                ('position', models.PositiveIntegerField()),
                ('level', models.PositiveSmallIntegerField()),
                ('heading', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['article_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('article', 'position'), name='section_position_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='ArticleCategory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('article', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='article_categories', to='collector.article')),
                ('category', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='article_categories', to='collector.category')),
            ],
            options={
                'verbose_name_plural': 'article categories',
                'constraints': [models.UniqueConstraint(fields=('article', 'category'), name='article_category_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Subcategory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('parent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='subcategories', to='collector.category')),
                ('child', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parents', to='collector.category')),
            ],
            options={
                'verbose_name_plural': 'subcategories',
                'constraints': [models.UniqueConstraint(fields=('parent', 'child'), name='subcategory_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Book',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='books', to='collector.corpus')),
                ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='book', to='collector.article')),
                ('document', models.CharField(max_length=64)),
                ('kind', models.CharField(choices=[('book', 'Book'), ('screenplay', 'Screenplay')], default='book', max_length=20)),
                ('author', models.CharField(blank=True, max_length=300)),
                ('set', models.CharField(blank=True, max_length=20)),
                ('url', models.CharField(blank=True, max_length=500)),
                ('file_name', models.CharField(max_length=255)),
                ('file_sha256', models.CharField(max_length=64)),
                ('encoding', models.CharField(max_length=40)),
                ('front', models.TextField(blank=True)),
                ('text', models.TextField()),
                ('back', models.TextField(blank=True)),
                ('n_tokens', models.PositiveIntegerField()),
                ('passage_tokens', models.PositiveIntegerField()),
                ('tokenizer', models.CharField(max_length=60)),
                ('table_rows', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['document'],
                'constraints': [models.UniqueConstraint(fields=('corpus', 'document'), name='book_document_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['book', 'screenplay'])), name='book_kind_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), ('passage_tokens__gt', 0)), name='book_has_passages')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='CollectionRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='collector.collection')),
                ('key', models.CharField(max_length=120)),
                ('old', models.JSONField()),
                ('new', models.JSONField()),
                ('why', models.TextField(blank=True)),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['at', 'id'],
                'indexes': [],
                'constraints': [],
            },
        ),
        migrations.CreateModel(
            name='CollectionText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='collector.collection')),
                ('name', models.CharField(max_length=80)),
                ('version', models.PositiveIntegerField()),
                ('markdown', models.TextField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name', '-version'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'name', 'version'), name='collection_text_version_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stages', to='collector.collection')),
                ('name', models.CharField(max_length=80)),
                ('kind', models.CharField(max_length=40)),
                ('position', models.PositiveSmallIntegerField()),
                ('state', models.CharField(choices=[('draft', 'Not published yet'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=20)),
            ],
            options={
                'ordering': ['collection_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'name'), name='stage_name_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='CandidateSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='candidate_sets', to='collector.collection')),
                ('role', models.CharField(choices=[('bridge', 'Bridge entities'), ('comparison', 'Comparison list')], max_length=20)),
                ('name', models.CharField(max_length=200)),
                ('source', models.CharField(max_length=300)),
                ('state', models.CharField(choices=[('proposed', 'Proposed'), ('kept', 'Kept'), ('dropped', 'Dropped')], default='proposed', max_length=20)),
                ('decided_by', models.CharField(blank=True, max_length=150)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('n_missing', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['role', 'name'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'role', 'name'), name='candidate_set_name_once'), models.CheckConstraint(condition=models.Q(('role__in', ['bridge', 'comparison'])), name='candidate_set_role_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('decided_by', ''), ('state', 'proposed')), models.Q(('decided_at__isnull', False), ('state__in', ('kept', 'dropped')), models.Q(('decided_by', ''), _negated=True)), _connector='OR'), name='candidate_set_is_decided_by_someone')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='collector.corpus')),
                ('article', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='document', to='collector.article')),
                ('external_id', models.CharField(max_length=255)),
                ('format', models.CharField(choices=[('txt', 'Plain text'), ('md', 'Markdown'), ('html', 'HTML'), ('pdf', 'PDF'), ('docx', 'Word (docx)'), ('jsonl', 'JSON Lines'), ('csv', 'CSV')], max_length=10)),
                ('file_name', models.CharField(max_length=500)),
                ('sha256', models.CharField(max_length=64)),
                ('url', models.CharField(blank=True, max_length=500)),
                ('licence', models.CharField(blank=True, max_length=200)),
                ('n_pages', models.PositiveIntegerField(blank=True, null=True)),
                ('n_characters', models.PositiveIntegerField(blank=True, null=True)),
                ('left_out', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'ordering': ['external_id'],
                'constraints': [models.UniqueConstraint(fields=('corpus', 'external_id'), name='document_id_once'), models.CheckConstraint(condition=models.Q(('format__in', ['txt', 'md', 'html', 'pdf', 'docx', 'jsonl', 'csv'])), name='document_format_is_known')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='DroppedSeed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dropped_seeds', to='collector.collection')),
                ('key', models.CharField(max_length=64)),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['collection_id', 'key'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'key'), name='seed_dropped_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Paragraph',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('article', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='paragraphs', to='collector.article')),
                ('section', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='paragraphs', to='collector.section')),
                ('position', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('paragraph', 'Paragraph'), ('list_item', 'List item')], default='paragraph', max_length=20)),
                ('text', models.TextField()),
                ('links', models.JSONField(default=list)),
                ('n_links', models.PositiveIntegerField(default=0)),
                ('n_links_in_corpus', models.PositiveIntegerField(default=0)),
                ('sentences', models.JSONField(blank=True, null=True)),
                ('splitter', models.CharField(blank=True, max_length=60)),
                ('pages', models.JSONField(blank=True, null=True)),
            ],
            options={
                'ordering': ['article_id', 'position'],
                'indexes': [models.Index(fields=['n_links', 'n_links_in_corpus'], name='paragraph_by_links')],
                'constraints': [models.UniqueConstraint(fields=('article', 'position'), name='paragraph_position_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['paragraph', 'list_item'])), name='paragraph_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Chapter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='chapters', to='collector.book')),
                ('position', models.PositiveIntegerField()),
                ('heading', models.CharField(max_length=300)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['book_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('book', 'position'), name='chapter_position_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='chapter_has_text')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Passage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='passages', to='collector.book')),
                ('position', models.PositiveIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('n_tokens', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['book_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('book', 'position'), name='passage_position_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='passage_has_text')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='BookQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='collector.book')),
                ('position', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('answers', models.JSONField()),
            ],
            options={
                'ordering': ['book_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('book', 'position'), name='book_question_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='CandidateMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('candidate_set', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='collector.candidateset')),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='collector.article')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('candidate_set', 'article'), name='candidate_member_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='PairTrial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('candidate_set', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='collector.candidateset')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='collector.article')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='collector.article')),
                ('works', models.BooleanField()),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('candidate_set', 'first', 'second'), name='pair_tried_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='Seed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seeds', to='collector.collection')),
                ('key', models.CharField(max_length=64)),
                ('position', models.PositiveIntegerField()),
                ('fold', models.CharField(blank=True, max_length=20)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seeds', to='collector.stage')),
                ('payload', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['collection_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('collection', 'key'), name='seed_chosen_once'), models.UniqueConstraint(fields=('collection', 'position'), name='seed_position_once')],
                'indexes': [],
            },
        ),
        migrations.CreateModel(
            name='SeedParagraph',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seed', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seed_paragraphs', to='collector.seed')),
                ('paragraph', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='collector.paragraph')),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['seed_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('seed', 'position'), name='seed_paragraph_once')],
                'indexes': [],
            },
        ),
    ]
