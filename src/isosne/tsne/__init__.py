"""The estimator `TSNE`: Algorithms 1 and 2 of the paper, assembled from steps 1 to 3.

* ``estimator``: the public class: parameters and fit
* ``joint``: the joint probabilities without a map
* ``fitted_map``: the part of the public class that uses a finished map
* ``foreign_parameters``: parameters of earlier versions and of other packages
* ``input_data``: the input of a fit
* ``landmarks``: step 1 on all rows, steps 2 and 3 on a sample of them
* ``plan``: all automatic choices
* ``memory_budget``: memory estimates and limits
* ``assembly``: from a plan to affinities and forces
* ``run``: the optimization
* ``progress``: what a fit tells of its progress
* ``task_hooks``: callbacks of scikit-learn
* ``checkpoint``: the state of a run on disk
* ``new_points``: coordinates of new points
* ``model_file``, ``serialization``: fitted models on disk
"""
